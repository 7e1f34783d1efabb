/** A real VS Code workbench: code-server with a profile of its own, shown by Chromium, driven as a user drives it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { type Browser, type Frame, type Locator, type Page, chromium } from 'playwright-core';

export const EXTENSION = path.resolve('.');
const CODE_SERVER = path.resolve('tests/ui/node_modules/code-server/out/node/entry.js');
const RESULTS = path.resolve('test-results');
const PICTURES = path.resolve('media/pictures');
const CHROMIUM_FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'update.mode': 'none',
  'editor.minimap.enabled': false,
  'editor.hover.delay': 100,
  'workbench.reduceMotion': 'on',
  'window.dialogStyle': 'custom',
};

/**
 * Milliseconds to wait for what the page is to show. Only a failure waits so long. From its very first start (unpacking,
 * reading the torch) to its last finding a server takes 4 s of processor time: 50 s where seven programs share each core.
 */
export const PATIENCE = 180_000;

export interface Options {
  /** A folder, or a `.code-workspace` file. */
  readonly workspace: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether VS Code asks about trust; otherwise it trusts everything. */
  readonly asksForTrust?: boolean;
  /** Further extensions: folders that hold one. */
  readonly extensions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A part of the window, in pixels. */
export interface Part {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const SIZE = { width: 1280, height: 800 };
const SIDE = 348;
const WINDOW: Part = { x: 0, y: 0, ...SIZE };

/** What is right of the list of files, from the tabs downwards: `height` pixels of it, without the first `from` of its width. */
export function editors(height: number, from = 0): Part {
  return { x: SIDE + from, y: 35, width: SIZE.width - SIDE - from, height };
}

/** Wait for the folders of a workspace: a page that asks for its file before the server serves files shows none, for good. */
async function showsFolders(page: Page): Promise<void> {
  const folders = page.locator('.explorer-folders-view .monaco-list-row').first();
  const none = page.getByText('You have not yet added a folder to the workspace');
  await folders.or(none).first().waitFor({ timeout: PATIENCE });
  if (await folders.isVisible()) return;
  await page.reload();
  await folders.waitFor({ timeout: PATIENCE });
}

export class Workbench {
  private constructor(
    readonly page: Page,
    readonly scratch: string,
    /** Every address that the page asked for outside this machine. */
    readonly asked: readonly string[],
    private readonly browser: Browser,
    private readonly server: ChildProcess,
    private readonly workspace: string,
    /** What installing the .vsix printed. */
    readonly installed: string,
  ) {}

  /** Install the .vsix into a fresh profile and open a workspace. */
  static async open(vsix: string, options: Options): Promise<Workbench> {
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'op-lint-ui-'));
    const inside = (name: string): string => path.join(scratch, name);
    fs.mkdirSync(inside('user/User'), { recursive: true });
    fs.mkdirSync(inside('home'));
    fs.writeFileSync(inside('user/User/settings.json'), JSON.stringify({ ...QUIET_SETTINGS, ...options.settings }, undefined, 2));
    fs.writeFileSync(inside('server.yaml'), 'auth: none\n');
    const base = [CODE_SERVER, '--config', inside('server.yaml'), '--user-data-dir', inside('user'), '--extensions-dir', inside('extensions')];
    const environment = { ...process.env, HOME: inside('home'), ...options.environment };
    const installed = spawnSync(process.execPath, [...base, '--install-extension', vsix], { encoding: 'utf8', env: environment });
    for (const extension of options.extensions ?? []) {
      fs.cpSync(extension, path.join(inside('extensions'), path.basename(extension)), { recursive: true });
    }
    if (options.extensions) fs.rmSync(inside('extensions/extensions.json'), { force: true });
    const port = await freePort();
    const log = fs.openSync(inside('server.log'), 'w');
    const server = spawn(
      process.execPath,
      [
        ...base, '--bind-addr', `127.0.0.1:${port}`, '--auth', 'none', '--disable-telemetry', '--disable-update-check',
        '--disable-getting-started-override', ...(options.asksForTrust ? [] : ['--disable-workspace-trust']),
      ],
      { detached: true, stdio: ['ignore', log, log], env: environment },
    );
    await isUp(port);
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_FLAGS });
    const page = await browser.newPage({ viewport: SIZE });
    const asked: string[] = [];
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      // What webviews ask of the second is a file of the extension: a service worker of the page's own answers.
      const isLocal = hostname === '127.0.0.1' || hostname.endsWith('.vscode-resource.vscode-cdn.net');
      if (protocol.startsWith('http') && !isLocal) asked.push(request.url());
    });
    const kind = options.workspace.endsWith('.code-workspace') ? 'workspace' : 'folder';
    await page.goto(`http://127.0.0.1:${port}/?${kind}=${options.workspace}`);
    await page.locator('.monaco-workbench').waitFor({ timeout: PATIENCE });
    if (kind === 'workspace') await showsFolders(page);
    return new Workbench(page, scratch, asked, browser, server, options.workspace, installed.stdout + installed.stderr);
  }

  /** Run a command of the palette by its title. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(`>${title}`);
    const entry = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    await entry.waitFor({ timeout: PATIENCE });
    await this.page.keyboard.press('Enter');
    await this.leave();
  }

  /** Open a file of the workspace at a line (1-based); with several folders `within` names the one that is meant. */
  async file(name: string, line = 1, column = 1, within = ''): Promise<void> {
    await this.page.keyboard.press('Control+p');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(name);
    const entry = this.page.locator('.quick-input-list .monaco-list-row', { hasText: path.basename(name) });
    const folder = path.dirname(name) === '.' ? '' : path.dirname(name);
    await entry.filter({ hasText: folder }).filter({ hasText: within }).first().click({ timeout: PATIENCE });
    await eventually(`${name} in front`, async () => (await this.activeTab.innerText()) === path.basename(name));
    await this.goto(line, column);
  }

  /** Put the cursor of the active editor somewhere. */
  async goto(line: number, column: number): Promise<void> {
    await this.page.keyboard.press('Control+g');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor({ timeout: PATIENCE });
    await input.fill(`:${line}:${column}`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: `line ${line} ` }).click({ timeout: PATIENCE });
    await this.leave();
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden', timeout: PATIENCE });
  }

  /** Put the pointer where nothing has a tooltip. */
  private async leave(): Promise<void> {
    await this.page.mouse.move(180, 700);
  }

  tab(name: string): Locator {
    return this.page.locator('.tab', { hasText: name }).first();
  }

  get activeTab(): Locator {
    return this.page.locator('.editor-group-container.active .tab.active .label-name');
  }

  /** The line (1-based) of the cursor, as the status bar says it. */
  async cursorLine(): Promise<number> {
    const text = await this.page.locator('#status\\.editor\\.selection').innerText();
    return Number(/Ln (\d+)/.exec(text)?.[1] ?? Number.NaN);
  }

  /** op-lint's entry in the status bar. */
  get status(): Locator {
    return this.page.locator('[id="op-lint.op-lint.op-lint.status"]');
  }

  /** What the tooltip of op-lint's entry says. */
  async statusTooltip(): Promise<string> {
    await this.page.mouse.move(0, 0);
    await this.status.hover();
    const tooltip = this.page.locator('.workbench-hover-container .monaco-hover');
    await tooltip.waitFor({ timeout: PATIENCE });
    return await tooltip.innerText();
  }

  /** What stands in notifications at this moment. */
  get toasts(): Locator {
    return this.page.locator('.notification-toast');
  }

  get problems(): Locator {
    return this.page.locator('.markers-panel');
  }

  /** The page inside the dispatch table view. */
  tableFrame(): Promise<Frame> {
    return this.frameWith('main#page');
  }

  /** The frame, of a webview, that shows something. */
  async frameWith(selector: string): Promise<Frame> {
    return await until(`a frame with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if (await frame.locator(selector).first().isVisible().catch(() => false)) return frame;
      }
      return undefined;
    });
  }

  /** What the hover at the cursor says. */
  async hover(): Promise<string> {
    await this.page.keyboard.press('Control+k');
    await this.page.keyboard.press('Control+i');
    const widget = this.page.locator('.monaco-hover:not(.hidden) .hover-contents').first();
    await widget.waitFor({ timeout: PATIENCE });
    await eventually('the hover to have loaded', async () => !(await this.hovers()).includes('Loading'));
    return await this.hovers();
  }

  private async hovers(): Promise<string> {
    return (await this.page.locator('.monaco-hover:not(.hidden) .hover-contents').allInnerTexts()).join('\n');
  }

  /** The identifier of the server's process: the one that `launch.py run` was started as by this profile. */
  serverProcess(): Promise<number | undefined> {
    const found = spawnSync('pgrep', ['-f', `launch.py run .*${this.scratch}`], { encoding: 'utf8' }).stdout.trim().split('\n');
    return Promise.resolve(found[0] === '' || found[0] === undefined ? undefined : Number(found[0]));
  }

  /** A picture of what stands there now; with `OP_LINT_PICTURES=1` those of the README are made anew, of `part` alone. */
  async picture(name: string, part: Part = WINDOW): Promise<void> {
    await new Promise((done) => setTimeout(done, 400)); // what fades in is there then
    await this.screenshot(name);
    if (process.env['OP_LINT_PICTURES'] === '1' && fs.readFileSync('README.md', 'utf8').includes(`/${name}.jpg`)) {
      await this.page.screenshot({ path: path.join(PICTURES, `${name}.jpg`), type: 'jpeg', quality: 82, clip: part });
    }
  }

  async screenshot(name: string): Promise<void> {
    fs.mkdirSync(RESULTS, { recursive: true });
    await this.page.screenshot({ path: path.join(RESULTS, `${name}.png`) });
  }

  /**
   * What there is for who has to find out what went wrong: what code-server printed, the log of the extension host
   * (`remoteexthost.log` in `exthost1`), and op-lint's own channel beside it.
   */
  keepLogs(name: string): void {
    const kept = path.join(RESULTS, `${name}-logs`);
    fs.rmSync(kept, { recursive: true, force: true });
    fs.mkdirSync(kept, { recursive: true });
    for (const from of ['user/logs', 'server.log']) {
      const source = path.join(this.scratch, from);
      if (fs.existsSync(source)) fs.cpSync(source, path.join(kept, path.basename(from)), { recursive: true });
    }
  }

  read(file: string): string {
    return fs.readFileSync(path.join(this.workspace, file), 'utf8');
  }

  async close(): Promise<void> {
    await this.browser.close();
    if (this.server.pid !== undefined) {
      try {
        process.kill(-this.server.pid, 'SIGTERM');
      } catch {
        // it has ended by itself
      }
      await until('the end of code-server', () => Promise.resolve(this.server.exitCode !== null || this.server.signalCode !== null || undefined), 10_000).catch(() => {
        process.kill(-(this.server.pid ?? 0), 'SIGKILL');
      });
    }
    await eventually('the end of everything that was started', () => spawnSync('pgrep', ['-f', this.scratch]).status !== 0);
    fs.rmSync(this.scratch, { recursive: true, force: true });
  }
}

/** Ask again and again until there is an answer. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, patience = PATIENCE): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s for ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Wait until something is true. */
export async function eventually(what: string, look: () => Promise<boolean> | boolean, patience = PATIENCE): Promise<void> {
  await until(what, async () => ((await look()) ? true : undefined), patience);
}

function chromiumPath(): string {
  const found = (process.env['PATH'] ?? '').split(':').map((folder) => path.join(folder, 'chromium')).find((file) => fs.existsSync(file));
  if (found === undefined) throw new Error('there is no chromium on PATH: run tests/ui/setup.sh');
  return found;
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => { done(typeof address === 'object' && address ? address.port : 0); });
    });
  });
}

async function isUp(port: number): Promise<void> {
  await eventually('code-server to answer', async () => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
    } catch {
      return false;
    }
  });
}
