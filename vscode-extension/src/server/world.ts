/** The real disk and the real Pythons behind `resolution.ts`. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import type { Answer, World } from './resolution';

/** Milliseconds. A Python on a slow network drive may take seconds to import what it has to. */
const PATIENCE = 30_000;

/** What `python/launch.py` is called with. */
export interface Launch {
  readonly script: string;
  readonly archive: string;
  readonly storage: string;
  readonly strategy: string;
}

/** The arguments that make an interpreter do a task of `launch.py`. */
export function launchArguments(launch: Launch, task: 'check' | 'run', ...more: string[]): string[] {
  return [launch.script, task, launch.archive, launch.storage, launch.strategy, ...more];
}

/** The machine that the extension runs on, with everything run in `launch.storage` and never in the workspace. */
export function realWorld(launch: Launch): World {
  return {
    isExecutable(file) {
      try {
        fs.accessSync(file, fs.constants.X_OK);
        return true;
      } catch {
        return false;
      }
    },
    isFolder: (file) => fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false,
    real(file) {
      try {
        return fs.realpathSync(file);
      } catch {
        return file;
      }
    },
    ask: (interpreter) => ask(interpreter, launch),
  };
}

async function ask(interpreter: string, launch: Launch): Promise<Answer> {
  const output = await run(interpreter, launchArguments(launch, 'check'), launch.storage, PATIENCE);
  try {
    return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Answer;
  } catch {
    throw new Error(`is no Python: it answered ${JSON.stringify(output.slice(0, 200))}`);
  }
}

/** What a command prints. Rejects with words for the user. */
export function run(command: string, given: readonly string[], folder: string, patience: number): Promise<string> {
  return new Promise((done, failed) => {
    const options = { cwd: folder, timeout: patience, maxBuffer: 64 << 20, windowsHide: true };
    execFile(command, given, options, (error, stdout, stderr) => {
      if (!error) done(stdout);
      else if (error.killed) failed(new Error(`did not answer within ${patience / 1000} seconds`));
      else if (typeof error.code === 'string') failed(new Error(`cannot be run: ${error.message}`));
      else failed(new Error(`fails: ${lastLine(stderr) ?? error.message}`));
    });
  });
}

function lastLine(text: string): string | undefined {
  const line = text.trim().split('\n').at(-1);
  return line === '' ? undefined : line;
}
