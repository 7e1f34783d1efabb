/** Interpreters that are not there, or lack something: said where one looks for it, and mended by one's own wish. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { PYTHON, bareEnvironment, exampleProject, find, libclangWheel } from './projects';
import type { Scenario } from './steps';
import { PATIENCE, Workbench, eventually } from './workbench';

const CPU = 'csrc/cpu/kernels.cpp';

async function squiggle(workbench: Workbench, project: string): Promise<void> {
  await workbench.file(CPU, find(project, CPU, 'gather_row"').line);
  await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: 2 * PATIENCE });
}

export function broken(vsix: string): Scenario {
  const project = exampleProject();
  return {
    name: 'a broken interpreter setting',
    open: () => Workbench.open(vsix, {
      workspace: project,
      settings: { 'op-lint.interpreter': '/nowhere/bin/python' },
      environment: { VIRTUAL_ENV: path.dirname(path.dirname(PYTHON)) },
    }),
    steps: [
      ['does not keep the server from running, on the next interpreter', async (workbench) => { await squiggle(workbench, project); }],
      ['is said by the status item, without a popup', async (workbench) => {
        await workbench.page.locator('.statusbar-item.warning-kind', { hasText: 'op-lint' }).waitFor({ timeout: PATIENCE });
        assert.match(await workbench.statusTooltip(), /the setting op-lint\.interpreter is .?\/nowhere\/bin\/python.?: does not exist/);
        await workbench.picture('broken-setting');
        assert.equal(await workbench.toasts.count(), 0);
      }],
    ],
  };
}

export function bare(vsix: string): Scenario {
  const project = exampleProject();
  const environment = bareEnvironment();
  return {
    name: 'an interpreter without libclang',
    open: () => Workbench.open(vsix, {
      workspace: project,
      environment: {
        VIRTUAL_ENV: environment,
        PATH: path.join(environment, 'bin') + path.delimiter + withoutLibclang(),
        PIP_NO_INDEX: '1',
        PIP_FIND_LINKS: libclangWheel(),
        PIP_CONFIG_FILE: '/dev/null',
      },
    }),
    steps: [
      ['is said once, with a cure', async (workbench) => {
        await workbench.file(CPU);
        await workbench.toasts.getByText(/it needs libclang, which .* does not have/).waitFor({ timeout: 2 * PATIENCE });
        assert.equal(await workbench.toasts.count(), 1);
        await workbench.page.locator('.statusbar-item.error-kind', { hasText: 'op-lint' }).waitFor({ timeout: PATIENCE });
        await workbench.picture('libclang');
      }],
      ['is not said again', async (workbench) => {
        await workbench.command('Notifications: Clear All Notifications');
        await workbench.command('op-lint: Restart Server');
        await workbench.command('op-lint: Show Server Information');
        const preview = await workbench.frameWith('h1:has-text("what was found")');
        await preview.getByText(/has no libclang/).first().waitFor({ timeout: PATIENCE });
        assert.equal(await workbench.toasts.count(), 0);
        await workbench.command('View: Close Editor');
      }],
      ['is mended by the user\'s own command', async (workbench) => {
        await workbench.command('op-lint: Install libclang for the Server');
        await squiggle(workbench, project);
        const libraries = path.join(workbench.scratch, 'user/User/globalStorage/op-lint.op-lint/libraries');
        assert.equal(fs.readdirSync(libraries).length, 1);
        await eventually('the status to be well', async () => /op-lint · torch .*snapshot/.test(await workbench.status.innerText()));
      }],
    ],
  };
}

/** The folders of PATH that have no Python: what is found must be the bare one. */
function withoutLibclang(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.filter((folder) => !['python3', 'python'].some((name) => fs.existsSync(path.join(folder, name)))).join(path.delimiter);
}
