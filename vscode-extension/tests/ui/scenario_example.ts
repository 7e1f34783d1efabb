/** The example project in a trusted workspace: what a user does in the first minutes. */
import assert from 'node:assert/strict';
import { exampleProject, find, PYTHON } from './projects';
import type { Scenario } from './steps';
import { PATIENCE, Workbench, eventually } from './workbench';

const KERNELS = 'csrc/cpu/kernels.cpp';

export function example(vsix: string): Scenario {
  const project = exampleProject();
  return {
    name: 'the example project',
    open: () => Workbench.open(vsix, { workspace: project, settings: { 'op-lint.interpreter': PYTHON } }),
    steps: [
      ['the .vsix installs into a fresh profile', async (workbench) => {
        assert.match(workbench.installed, /was successfully installed/);
        await workbench.page.locator('.explorer-folders-view').waitFor({ timeout: PATIENCE });
      }],
      ['a mistake in C++ gets a squiggle', async (workbench) => {
        await workbench.file(KERNELS, find(project, KERNELS, 'gather_row"').line);
        await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: PATIENCE });
      }],
      ['the status bar says which torch the sources are held against', async (workbench) => {
        await eventually('torch in the status bar', async () => (await workbench.status.innerText()).includes('torch 2.13.0'));
      }],
      ['Problems says what is wrong', async (workbench) => {
        await workbench.page.keyboard.press('Control+Shift+m');
        await workbench.problems.getByText(/nothing defines it; did you mean `gather_rows`/).first().waitFor({ timeout: PATIENCE });
        await workbench.screenshot('problems');
      }],
      ['nothing pops up', async (workbench) => {
        assert.equal(await workbench.toasts.count(), 0);
      }],
    ],
  };
}
