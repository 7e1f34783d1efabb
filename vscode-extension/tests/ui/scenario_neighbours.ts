/** Two folders with settings of their own, the Python extension, and a C++ server beside us. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { PYTHON, exampleProject, find, scratchFolder, write } from './projects';
import type { Scenario } from './steps';
import { PATIENCE, Workbench, eventually } from './workbench';

const CPU = 'csrc/cpu/kernels.cpp';

export function neighbours(vsix: string): Scenario {
  const parent = scratchFolder();
  const first = exampleProject('first', parent);
  const second = exampleProject('second', parent);
  write(second, '.vscode/settings.json', JSON.stringify({ 'op-lint.ignore': ['OPL201'] }));
  const workspace = write(parent, 'both.code-workspace', JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }] }));
  const other = path.join(parent, 'other-python');
  fs.writeFileSync(other, `#!/bin/sh\nexec '${PYTHON}' "$@"\n`, { mode: 0o755 });
  let running: number | undefined;
  return {
    name: 'two folders, the Python extension and clangd',
    open: () => Workbench.open(vsix, {
      workspace,
      extensions: ['tests/ui/neighbours/ms-python.python', 'tests/ui/neighbours/llvm-vs-code-extensions.vscode-clangd'],
      environment: { TEST_INTERPRETERS: `${PYTHON}:${other}` },
      settings: { 'workbench.colorTheme': 'Default Dark Modern' },
    }),
    steps: [
      ['each folder has its own settings', async (workbench) => {
        await workbench.file(CPU, find(first, CPU, 'gather_row"').line, 1, 'first');
        const squiggles = workbench.page.locator('.squiggly-error');
        await eventually('both findings', async () => (await squiggles.count()) === 2);
        await workbench.file(CPU, find(second, CPU, 'gather_row"').line, 1, 'second');
        await eventually('the finding that is not ignored', async () => (await squiggles.count()) === 1);
        await workbench.page.keyboard.press('Alt+F8');
        await workbench.page.locator('.marker-widget', { hasText: /the schema says `float s`/ }).waitFor({ timeout: PATIENCE });
        await workbench.page.keyboard.press('Escape');
      }],
      ['the interpreter of the Python extension runs the server', async (workbench) => {
        await workbench.command('op-lint: Show Server Information');
        const preview = await workbench.frameWith('h1:has-text("what was found")');
        const row = preview.locator('tr', { hasText: 'Python extension' }).first();
        assert.match(await row.innerText(), /used/);
        assert.ok((await row.innerText()).includes(PYTHON));
        await workbench.command('View: Close Editor');
        running = await workbench.serverProcess();
        assert.notEqual(running, undefined);
      }],
      ['the same choice again restarts nothing', async (workbench) => {
        await workbench.command('Test: Pick the Same Interpreter');
        await workbench.command('op-lint: Show Server Information'); // which waits for what the choice has set going
        await workbench.frameWith('h1:has-text("what was found")');
        assert.equal(await workbench.serverProcess(), running);
        await workbench.command('View: Close Editor');
      }],
      ['another choice starts another server', async (workbench) => {
        await workbench.command('Test: Pick the Other Interpreter');
        await eventually('another server', async () => ![running, undefined].includes(await workbench.serverProcess()), 2 * PATIENCE);
      }],
      ['on a key the hovers of both stand, ours once', async (workbench) => {
        const { line, column } = find(first, CPU, 'CPU, m)');
        await workbench.file(CPU, line, column + 1, 'first');
        await eventually('both hovers', async () => {
          const text = await workbench.hover();
          await workbench.page.keyboard.press('Escape');
          return text.includes('clangd knows CPU') && text.split('highest key of its tensors').length === 2;
        });
      }],
      ['on what is plain C++ we say nothing', async (workbench) => {
        const { line, column } = find(first, CPU, 'index_select');
        await workbench.goto(line, column + 1);
        const hover = await workbench.hover();
        assert.equal(hover.trim(), 'clangd knows index_select');
        await workbench.page.keyboard.press('Escape');
        await workbench.goto(line, 1);
        await workbench.page.keyboard.press('Control+Space');
        const list = workbench.page.locator('.suggest-widget.visible .monaco-list-row');
        await list.filter({ hasText: 'clangd_item' }).first().waitFor({ timeout: PATIENCE });
        assert.equal(await list.filter({ hasText: /Autograd|muladd_cpu|myops/ }).count(), 0);
        await workbench.page.keyboard.press('Escape');
      }],
      ['the table shows both folders', async (workbench) => {
        await workbench.command('op-lint: Show Dispatch Table');
        const frame = await workbench.tableFrame();
        await frame.getByRole('heading', { name: second }).waitFor({ timeout: PATIENCE });
        assert.equal(await frame.locator('table').count(), 2);
        await workbench.picture('table-dark');
      }],
    ],
  };
}
