/** The example project in a trusted workspace: what a user does in the first minutes. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { exampleProject, find, PYTHON } from './projects';
import type { Scenario } from './steps';
import { PATIENCE, Workbench, editors, eventually } from './workbench';

const CPU = 'csrc/cpu/kernels.cpp';
const CUDA = 'csrc/cuda/kernels.cu';
const OPS = 'csrc/ops.cpp';
const PYTHON_OPS = 'myops/ops.py';

/** Milliseconds that VS Code may need for activating the extension. */
const MOST_ACTIVATION = 300;

export function example(vsix: string): Scenario {
  const project = exampleProject();
  const at = (file: string, text: string): { line: number; column: number } => find(project, file, text);
  return {
    name: 'the example project',
    open: () => Workbench.open(vsix, { workspace: project, settings: { 'op-lint.interpreter': PYTHON } }),
    steps: [
      ['the .vsix installs into a fresh profile', async (workbench) => {
        assert.match(workbench.installed, /was successfully installed/);
        await workbench.page.locator('.explorer-folders-view').waitFor({ timeout: PATIENCE });
      }],
      ['a mistake in C++ gets a squiggle', async (workbench) => {
        const { line, column } = at(CPU, 'gather_row"');
        await workbench.file(CPU, line, column);
        await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: PATIENCE });
      }],
      ['the status bar says which torch the sources are held against', async (workbench) => {
        await eventually('torch in the status bar', async () => (await workbench.status.innerText()).includes('torch 2.13.0'));
      }],
      ['Problems says what is wrong', async (workbench) => {
        await workbench.page.keyboard.press('Control+Shift+m');
        await workbench.problems.getByText(/nothing defines it; did you mean `gather_rows`/).first().waitFor({ timeout: PATIENCE });
        await workbench.picture('diagnostics', editors(744));
        await workbench.page.keyboard.press('Control+j');
      }],
      ['the extension was activated in time', async (workbench) => {
        await workbench.command('Developer: Show Running Extensions');
        const row = workbench.page.locator('.runtime-extensions-editor .extension', { hasText: 'op-lint' }).first();
        await row.waitFor({ timeout: PATIENCE });
        const text = await row.innerText();
        const milliseconds = Number(/Activation: (\d+)ms/.exec(text)?.[1] ?? Number.NaN);
        console.log(`        activation took ${milliseconds} ms`);
        assert.ok(milliseconds < MOST_ACTIVATION, text);
        await workbench.command('View: Close Editor');
      }],
      ['hover on a key says where it stands in the order of priority', async (workbench) => {
        const { line, column } = at(CPU, 'CPU, m)');
        await workbench.file(CPU, line, column + 1);
        const hover = await workbench.hover();
        assert.match(hover, /CPU/);
        assert.match(hover, /AutogradCPU/);
        assert.match(hover, /highest key of its tensors/);
        await workbench.picture('hover-key', editors(560));
        await workbench.page.keyboard.press('Escape');
      }],
      ['hover on an operator in Python has its schema', async (workbench) => {
        const { line, column } = at(PYTHON_OPS, 'muladd"');
        await workbench.file(PYTHON_OPS, line, column + 1);
        assert.match(await workbench.hover(), /muladd\(Tensor a, Tensor b, float c\) -> Tensor/);
        await workbench.picture('hover-operator');
        await workbench.page.keyboard.press('Escape');
      }],
      ['go to definition leads from Python to C++', async (workbench) => {
        await workbench.page.keyboard.press('F12');
        await eventually('ops.cpp', async () => (await workbench.activeTab.innerText()) === 'ops.cpp');
        await eventually('the definition', async () => (await workbench.cursorLine()) === at(OPS, 'm.def("muladd').line);
      }],
      ['a code lens over a definition says what there is', async (workbench) => {
        await workbench.page.locator('.codelens-decoration', { hasText: /CPU/ }).first().waitFor({ timeout: PATIENCE });
      }],
      ['completion offers dispatch keys', async (workbench) => {
        const { line, column } = at(CUDA, 'Cuda, m)');
        await workbench.file(CUDA, line, column);
        await workbench.page.keyboard.press('Control+Shift+ArrowRight');
        await workbench.page.keyboard.type('Aut');
        await workbench.page.keyboard.press('Control+Space');
        const list = workbench.page.locator('.suggest-widget.visible .monaco-list-row');
        await list.first().waitFor({ timeout: PATIENCE });
        assert.ok((await list.allInnerTexts()).some((text) => text.includes('AutogradCUDA')));
        await workbench.picture('completion');
        await workbench.page.keyboard.press('Escape');
        await workbench.command('File: Revert File');
      }],
      ['a quick fix is applied, and saved', async (workbench) => {
        const { line, column } = at(CPU, 'gather_row"');
        await workbench.file(CPU, line, column + 1);
        await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: PATIENCE });
        await workbench.page.keyboard.press('Control+.');
        const action = workbench.page.locator('.action-widget .monaco-list-row', { hasText: 'gather_rows' }).first();
        await action.waitFor({ timeout: PATIENCE });
        await workbench.picture('quick-fix');
        await workbench.page.keyboard.press('Enter');
        await eventually('the new name', () => workbench.page.locator('.view-line', { hasText: 'm.impl("gather_rows"' }).first().isVisible());
        await workbench.page.keyboard.press('Control+s');
        await eventually('the file on disk', () => workbench.read(CPU).includes('m.impl("gather_rows"'));
      }],
      ['rename changes C++ and Python', async (workbench) => {
        const { line, column } = at(OPS, 'normalize(');
        await workbench.file(OPS, line, column + 1);
        await workbench.page.keyboard.press('F2');
        const input = workbench.page.locator('.rename-box input');
        await input.waitFor({ timeout: PATIENCE });
        await input.fill('normalise');
        await workbench.page.keyboard.press('Enter');
        await eventually('the new name', () => workbench.page.locator('.view-line', { hasText: 'm.def("normalise(' }).first().isVisible());
        await workbench.command('File: Save All');
        for (const [file, text] of [[OPS, 'm.def("normalise('], [CPU, 'm.impl("normalise"'], [CUDA, 'm.impl("normalise"'], [PYTHON_OPS, 'myops::normalise']] as const) {
          await eventually(`${file} on disk`, () => workbench.read(file).includes(text));
        }
      }],
      ['the dispatch table shows the operators against the keys', async (workbench) => {
        await workbench.command('op-lint: Show Dispatch Table');
        const frame = await workbench.tableFrame();
        const cell = frame.getByRole('button', { name: /myops::muladd at CPU: kernel, .*muladd_cpu/ });
        await cell.waitFor({ timeout: PATIENCE });
        await frame.getByRole('button', { name: /myops::scale at CUDA: missing/ }).waitFor({ timeout: PATIENCE });
        await frame.getByRole('button', { name: 'myops::soften no def', exact: true }).waitFor({ timeout: PATIENCE });
        await workbench.picture('table', editors(490));
      }],
      ['a cell leads to its registration', async (workbench) => {
        const frame = await workbench.tableFrame();
        await frame.getByRole('button', { name: /myops::muladd at CPU: kernel/ }).click();
        await eventually('kernels.cpp', async () => (await workbench.activeTab.innerText()) === 'kernels.cpp');
        await eventually('the registration', async () => (await workbench.cursorLine()) === at(CPU, 'm.impl("muladd"').line);
      }],
      ['the table follows what is typed', async (workbench) => {
        const frame = await workbench.tableFrame();
        await workbench.page.keyboard.press('End');
        await workbench.page.keyboard.press('Enter');
        await workbench.page.keyboard.type('m.impl("typed", &muladd_cpu);');
        await frame.getByRole('button', { name: /myops::typed at CPU: kernel/ }).waitFor({ timeout: PATIENCE });
        await workbench.page.keyboard.press('Control+Shift+K'); // not a revert: by now the file may have been saved by itself
        await frame.getByRole('button', { name: /myops::typed at CPU: kernel/ }).waitFor({ state: 'detached', timeout: PATIENCE });
      }],
      ['the table is walked by keyboard', async (workbench) => {
        const frame = await workbench.tableFrame();
        await frame.locator('tbody button').first().focus();
        await workbench.page.keyboard.press('ArrowRight');
        await workbench.page.keyboard.press('ArrowDown');
        const focused = await frame.evaluate(() => document.activeElement?.getAttribute('aria-label'));
        assert.match(focused ?? '', /^myops::add_ at CPU/);
        await workbench.page.keyboard.press('Control+End');
        assert.match((await frame.evaluate(() => document.activeElement?.getAttribute('aria-label'))) ?? '', /^myops::soften at/);
        await workbench.page.keyboard.press('/');
        await workbench.page.keyboard.type('scale_cpu');
        await frame.getByText(/1 of \d+ operators/).waitFor({ timeout: PATIENCE });
        assert.equal(await frame.locator('tbody tr').count(), 1);
        await workbench.page.keyboard.type(' nothing');
        await frame.getByText('No operator fits the filter.').waitFor({ timeout: PATIENCE });
        await frame.getByLabel('Filter').fill('scale_cpu');
        await frame.getByText(/1 of \d+ operators/).waitFor({ timeout: PATIENCE });
      }],
      ['one operator has its whole table, and the path of a call', async (workbench) => {
        const frame = await workbench.tableFrame();
        await frame.getByRole('button', { name: 'myops::scale', exact: true }).click();
        await frame.locator('.path .step.runs', { hasText: 'CPU' }).waitFor({ timeout: PATIENCE });
        await frame.locator('[data-toggle=device]').selectOption('cuda');
        await frame.locator('.end.raises', { hasText: 'NotImplementedError' }).waitFor({ timeout: PATIENCE });
        await frame.locator('[data-toggle=requires_grad]').check();
        await frame.locator('.path .step', { hasText: 'AutogradCUDA' }).waitFor({ timeout: PATIENCE });
        assert.ok(await frame.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'it fits beside an editor');
        await workbench.picture('operator', editors(566, 466));
        await workbench.page.keyboard.press('Escape');
        await frame.locator('section.matrix').waitFor({ timeout: PATIENCE });
        await workbench.command('View: Close Editor');
      }],
      ['a call is explained from the editor', async (workbench) => {
        const { line, column } = at(PYTHON_OPS, 'muladd"');
        await workbench.file(PYTHON_OPS, line, column + 1);
        await workbench.command('op-lint: Explain This Call');
        const frame = await workbench.tableFrame();
        await frame.getByRole('heading', { name: 'myops::muladd' }).waitFor({ timeout: PATIENCE });
        await workbench.command('View: Close Editor');
      }],
      ['a rule\'s documentation opens', async (workbench) => {
        await workbench.command('op-lint: Open Rule Documentation');
        const input = workbench.page.locator('.quick-input-widget input.input');
        await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'OPL' }).first().waitFor({ timeout: PATIENCE });
        await input.fill('missing-backend-kernel');
        await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'OPL301' }).first().waitFor({ timeout: PATIENCE });
        await workbench.page.keyboard.press('Enter');
        const preview = await workbench.frameWith('h1:has-text("missing-backend-kernel")');
        assert.ok(await preview.getByText('It does not fall to the CPU kernel').isVisible());
        await workbench.picture('rule');
        await workbench.command('View: Close Editor');
      }],
      ['server information says what was found', async (workbench) => {
        await workbench.command('op-lint: Show Server Information');
        const preview = await workbench.frameWith('h1:has-text("what was found")');
        await preview.getByText(PYTHON).first().waitFor({ timeout: PATIENCE });
        await preview.getByText('4 C++, 3 Python, 2 build; 5 of them register operators').waitFor({ timeout: PATIENCE });
        await workbench.picture('information');
        await workbench.command('View: Close Editor');
      }],
      ['the log says which interpreter runs the server', async (workbench) => {
        await workbench.command('op-lint: Show Logs');
        await workbench.page.locator('.output-view .view-line', { hasText: '[info]' }).first().waitFor({ timeout: PATIENCE });
        const logs = path.join(workbench.scratch, 'user/logs');
        const own = fs.readdirSync(logs, { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith('op-lint.log'));
        assert.match(fs.readFileSync(path.join(logs, own ?? ''), 'utf8'), /interpreter: setting .*: used/);
        await workbench.picture('log');
        await workbench.page.keyboard.press('Control+j');
      }],
      ['what is not needed is not offered', async (workbench) => {
        await workbench.page.keyboard.press('F1');
        await workbench.page.locator('.quick-input-widget input.input').fill('>op-lint:');
        const list = workbench.page.locator('.quick-input-list .monaco-list-row');
        await list.filter({ hasText: 'op-lint: Show Logs' }).first().waitFor({ timeout: PATIENCE });
        assert.equal(await list.filter({ hasText: 'Install libclang' }).count(), 0);
        await workbench.page.keyboard.press('Escape');
      }],
      ['a configuration is made, and a wrong key in it is found', async (workbench) => {
        await workbench.command('op-lint: Create Configuration');
        await workbench.tab('op-lint.toml').waitFor({ timeout: PATIENCE });
        assert.match(workbench.read('op-lint.toml'), /^# extend-select = \[\]$/m);
        await workbench.goto(2, 1);
        await workbench.page.keyboard.type('selct = ["ALL"]\n');
        await workbench.page.keyboard.press('Control+s');
        const said = workbench.page.locator('.marker-widget', { hasText: /there is no setting `selct`; did you mean `select`/ });
        await eventually('what is wrong with the key', async () => {
          // What is said while one types is another thing: the line is not whole then.
          await workbench.page.keyboard.press('Escape');
          await workbench.page.keyboard.press('Alt+F8');
          return said.isVisible();
        });
        await workbench.page.keyboard.press('Escape');
        await workbench.command('View: Close Editor');
        fs.rmSync(path.join(project, 'op-lint.toml'));
      }],
      ['settings in TOML are completed', async (workbench) => {
        fs.writeFileSync(path.join(project, 'op-lint.toml'), '\n');
        await workbench.file('op-lint.toml');
        await workbench.page.keyboard.type('ext');
        await workbench.page.keyboard.press('Control+Space');
        const list = workbench.page.locator('.suggest-widget.visible .monaco-list-row');
        await list.filter({ hasText: 'extend-select' }).first().waitFor({ timeout: PATIENCE });
        await workbench.page.keyboard.press('Escape');
        await workbench.command('File: Revert File');
        await workbench.command('View: Close Editor');
        fs.rmSync(path.join(project, 'op-lint.toml'));
      }],
      ['the walkthrough has four steps', async (workbench) => {
        await workbench.command('Welcome: Open Walkthrough...');
        const entry = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Get started with op-lint' });
        await entry.click({ timeout: PATIENCE });
        const steps = workbench.page.locator('.gettingStarted .getting-started-step');
        await eventually('four steps', async () => (await steps.count()) === 4);
        for (const step of await steps.all()) {
          await step.click();
          assert.doesNotMatch(await step.innerText(), /`/); // its Markdown is not quite Markdown
        }
        await workbench.picture('walkthrough');
        await workbench.command('View: Close Editor');
      }],
      ['its page among the extensions has no broken picture', async (workbench) => {
        await workbench.page.keyboard.press('Control+Shift+X');
        await workbench.page.locator('.extension-list-item', { hasText: 'op-lint' }).first().click({ timeout: PATIENCE });
        const page = await workbench.frameWith('h1:has-text("op-lint for Visual Studio Code")');
        assert.ok(await page.evaluate(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0)));
        await workbench.picture('page');
        await workbench.command('View: Close Editor');
        await workbench.command('View: Show Explorer');
      }],
      ['restart starts another server, which says the same', async (workbench) => {
        const before = await workbench.serverProcess();
        await workbench.command('op-lint: Restart Server');
        await eventually('another server', async () => ![before, undefined].includes(await workbench.serverProcess()));
        await workbench.command('op-lint: Show Server Information'); // which follows what the server comes to know
        const preview = await workbench.frameWith('h1:has-text("what was found")');
        await preview.locator('tr', { hasText: 'torch' }).getByText(/2\.13\.0.* of /).first().waitFor({ timeout: PATIENCE });
        await workbench.command('View: Close Editor');
        await workbench.file(CPU, 1);
        await workbench.page.locator('.squiggly-error').first().waitFor({ state: 'attached', timeout: PATIENCE });
      }],
      ['a server that dies is started again', async (workbench) => {
        const before = await workbench.serverProcess();
        assert.ok(before !== undefined);
        process.kill(before, 'SIGKILL');
        await eventually('another server', async () => ![before, undefined].includes(await workbench.serverProcess()));
        await workbench.file(OPS, 1);
        await workbench.page.locator('.codelens-decoration', { hasText: /CPU/ }).first().waitFor({ timeout: PATIENCE });
      }],
      ['nothing has popped up, and nothing was asked of any network', async (workbench) => {
        assert.equal(await workbench.toasts.count(), 0);
        assert.deepEqual(workbench.asked, []);
      }],
    ],
  };
}
