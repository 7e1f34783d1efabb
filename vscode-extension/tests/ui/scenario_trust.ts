/** A workspace that the user has not vouched for: it is analysed, and nothing that it holds or names is run. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { PYTHON, exampleProject, find, write } from './projects';
import type { Scenario } from './steps';
import { PATIENCE, Workbench, eventually } from './workbench';

const CPU = 'csrc/cpu/kernels.cpp';

export function untrusted(vsix: string): Scenario {
  const project = exampleProject();
  const marks = path.join(path.dirname(project), 'marks');
  fs.mkdirSync(marks);
  const marking = (name: string): string => `#!/bin/sh\ntouch '${marks}/${name}'\nexec '${PYTHON}' "$@"\n`;
  write(project, '.venv/bin/python', marking('environment'), 0o755);
  const named = write(project, 'tools/python', marking('setting'), 0o755);
  write(project, '.vscode/settings.json', JSON.stringify({ 'op-lint.interpreter': named, 'op-lint.imports': ['evil'] }));
  write(project, 'evil.py', `open('${marks}/import', 'w')\n`);
  write(project, 'sitecustomize.py', `open('${marks}/sitecustomize', 'w')\n`);
  write(project, 'op-lint.toml', 'python = "tools/python"\nimport = ["evil"]\n');
  return {
    name: 'an untrusted workspace',
    open: () => Workbench.open(vsix, {
      workspace: project,
      asksForTrust: true,
      settings: { 'op-lint.interpreter': PYTHON, 'security.workspace.trust.startupPrompt': 'never' },
    }),
    steps: [
      ['is analysed', async (workbench) => {
        await workbench.page.locator('.statusbar', { hasText: 'Restricted Mode' }).waitFor({ timeout: PATIENCE });
        await workbench.file(CPU, find(project, CPU, 'gather_row"').line);
        await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: PATIENCE });
      }],
      ['has nothing run that it holds or names', async (workbench) => {
        await eventually('the analysis to end', async () => (await workbench.status.innerText()).includes('torch'));
        assert.deepEqual(fs.readdirSync(marks), []);
        assert.equal(await workbench.toasts.count(), 0);
      }],
      ['says so', async (workbench) => {
        assert.match(await workbench.statusTooltip(), /Restricted: nothing that this workspace holds or names is run/);
        await workbench.picture('restricted');
      }],
      ['once trusted, has its own interpreter used', async (workbench) => {
        await workbench.command('Workspaces: Manage Workspace Trust');
        await workbench.page.locator('.workspace-trust-editor').getByText('Trust', { exact: true }).first().click();
        await eventually('the interpreter of the workspace to run', () => fs.existsSync(path.join(marks, 'setting')));
        await eventually('the import that it asks for', () => fs.existsSync(path.join(marks, 'import')));
      }],
    ],
  };
}
