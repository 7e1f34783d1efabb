/** Scenarios of steps: each step says what it shows; one that fails leaves a picture and code-server's log, and ends its scenario. */
import * as path from 'node:path';
import type { Workbench } from './workbench';

export interface Scenario {
  readonly name: string;
  open(): Promise<Workbench>;
  readonly steps: readonly (readonly [string, (workbench: Workbench) => Promise<void>])[];
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Run scenarios one after the other. With a filter only those whose name holds it. */
export async function runScenarios(scenarios: readonly Scenario[], filter: string): Promise<Outcome> {
  let passed = 0, failed = 0, skipped = 0;
  for (const scenario of scenarios.filter((each) => each.name.includes(filter))) {
    console.log(`\n${scenario.name}`);
    let workbench: Workbench | undefined;
    let done = 0;
    try {
      workbench = await scenario.open();
      for (const [name, step] of scenario.steps) {
        const start = Date.now();
        await step(workbench);
        done += 1;
        passed += 1;
        console.log(`  ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
      }
    } catch (error) {
      failed += 1;
      skipped += scenario.steps.length - done - 1;
      console.log(`  FAIL  ${scenario.steps[done]?.[0] ?? 'open'}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      const name = scenario.name.replace(/\W+/g, '-');
      await workbench?.screenshot(`failed-${name}`).catch((problem: unknown) => { console.log(`no picture: ${String(problem)}`); });
      workbench?.keepLogs(name);
      console.log(`        picture and log: ${path.resolve('test-results')}`);
    }
    try {
      await workbench?.close();
    } catch (error) {
      failed += 1;
      console.log(`  FAIL  close: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { passed, failed, skipped };
}
