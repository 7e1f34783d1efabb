/** The life of the server: found, started, started anew only when something else is to run, and what it is at. */
import * as fs from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Executable, LanguageClient } from 'vscode-languageclient/node';
import { ask } from './ask';
import { type Facts, page } from './information';
import type { Information } from './protocol';
import { PythonExtension } from './python_extension';
import { type Resolution, type Search, identity, lacking, locate, resolve, warning } from './server/resolution';
import { type Launch, launchArguments, realWorld, run } from './server/world';
import { decidesWhatRuns, importStrategy, interpreterSetting, serverCommand } from './settings';
import { listedRules } from './rules';
import { type State, shown } from './state';
import type { RuleName } from './toml_features';

/** Milliseconds: what pip may need on a slow line, and what a command of the command line may. */
const PATIENCE_INSTALL = 15 * 60_000;
const PATIENCE_COMMAND = 60_000;

const ANNOUNCED = 'announced';

export class Controller implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel('op-lint', { log: true });
  private readonly trace = vscode.window.createOutputChannel('op-lint trace', { log: true });
  private readonly python = new PythonExtension(() => { this.update(); }, this.log);
  private readonly item = vscode.window.createStatusBarItem('op-lint.status', vscode.StatusBarAlignment.Right, 90);
  private readonly changedAnalysis = new vscode.EventEmitter<void>();
  private readonly changedInformation = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private client: LanguageClient | undefined;
  private running = '';
  private resolution: Resolution = { verdicts: [] };
  private state: State = { kind: 'starting' };
  private work: Promise<void> = Promise.resolve();
  private known: Promise<readonly RuleName[]> | undefined;

  /** Fires when the server knows something new about the workspace. */
  readonly onAnalysis = this.changedAnalysis.event;

  /** Fires when what `describe` says may have changed. */
  readonly onInformation = this.changedInformation.event;

  constructor(private readonly context: vscode.ExtensionContext) {
    this.item.name = 'op-lint';
    this.item.command = 'op-lint.showMenu';
    this.show();
    this.item.show();
    this.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration((event) => { if (decidesWhatRuns(event)) this.update(); }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => { this.update(); }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.client?.sendNotification('op-lint/trust', { trusted: true });
        this.update();
      }),
    );
  }

  /** Look again at what is to run; start it if it does not run yet. */
  update(): void {
    this.enqueue(() => this.bringUp(false));
  }

  /** End the server and start it again. */
  restart(): Promise<void> {
    this.enqueue(() => this.bringUp(true));
    return this.work;
  }

  /** The client of a running server. Rejects with words for the user where there is none. */
  async server(): Promise<LanguageClient> {
    await this.work;
    if (this.client?.isRunning() !== true) {
      throw new Error(this.state.kind === 'failed' ? `op-lint does not run: ${this.state.reason}` : 'op-lint is starting: wait a moment');
    }
    return this.client;
  }

  /** What `op-lint ARGUMENTS…` prints, run as the server is. Rejects with words for the user. */
  async commandLine(...given: string[]): Promise<string> {
    await this.work;
    const [command, ...rest] = this.commandOf(given);
    return await run(command, rest, this.storage, PATIENCE_COMMAND);
  }

  /** Every rule that there is, as `op-lint rule` lists them. Rejects with words for the user. */
  rules(): Promise<readonly RuleName[]> {
    this.known ??= this.commandLine('rule').then(listedRules);
    this.known.catch(() => { this.known = undefined; });
    return this.known;
  }

  /** What was found, as a page of Markdown. */
  async describe(): Promise<string> {
    await this.work;
    const facts: Facts = {
      extension: (this.context.extension.packageJSON as { version: string }).version,
      editor: `${vscode.env.appName} ${vscode.version}${vscode.env.remoteName === undefined ? '' : ` (remote: ${vscode.env.remoteName})`}`,
      isTrusted: vscode.workspace.isTrusted,
      command: serverCommand(),
      resolution: this.resolution,
      information: await this.inform(),
      failure: this.state.kind === 'failed' ? this.state.reason : undefined,
    };
    return page(facts);
  }

  /** What the interpreter that comes first lacks, and a way to install it into the extension's own folder. */
  get installation(): { readonly lacks: readonly string[]; install(): Promise<void> } | undefined {
    const verdict = lacking(this.resolution);
    if (this.resolution.runner !== undefined || verdict?.path === undefined || verdict.lacks === undefined) return undefined;
    const { path: interpreter, lacks } = verdict;
    return { lacks, install: () => this.install(interpreter, lacks) };
  }

  showLogs(): void {
    this.log.show();
  }

  dispose(): void {
    vscode.Disposable.from(this.log, this.trace, this.python, this.item, this.changedAnalysis, this.changedInformation, ...this.subscriptions).dispose();
  }

  /** End the server, before the extension host does. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.running = '';
    if (client === undefined) return;
    try {
      await client.dispose();
    } catch (error) {
      this.log.warn(`the server did not end in time: ${String(error)}`);
    }
  }

  private get storage(): string {
    return this.context.globalStorageUri.fsPath;
  }

  private get launch(): Launch {
    const inside = (name: string): string => vscode.Uri.joinPath(this.context.extensionUri, name).fsPath;
    return { script: inside('python/launch.py'), archive: inside('bundled/server.tar.xz'), storage: this.storage, strategy: importStrategy() };
  }

  private enqueue(task: () => Promise<void>): void {
    this.work = this.work.then(task).catch((error: unknown) => {
      this.running = '';
      this.fail(error instanceof Error ? error.message : String(error), 'crash');
    });
  }

  private async bringUp(anew: boolean): Promise<void> {
    await fs.mkdir(this.storage, { recursive: true });
    const command = serverCommand();
    const strategy = importStrategy();
    this.resolution = await resolve(await this.search(), realWorld(this.launch));
    for (const verdict of this.resolution.verdicts) {
      this.log.info(`interpreter: ${verdict.origin} ${verdict.path ?? verdict.named}: ${verdict.words}`);
    }
    const wanted = command.length > 0 ? JSON.stringify(command) : identity(this.resolution, strategy);
    if (!anew && this.client !== undefined && wanted === this.running) {
      await this.client.sendNotification('workspace/didChangeConfiguration', { settings: null });
      this.show();
      return;
    }
    await this.stop();
    this.known = undefined;
    if (wanted === '') {
      this.failForWantOfPython();
      return;
    }
    this.state = { kind: 'starting' };
    this.show();
    const { startClient } = await import('./client');
    this.client = await startClient(this.executable(), {
      log: this.log,
      trace: this.trace,
      interpreterFor: (folder) => this.interpreterFor(folder),
      busy: (isBusy) => { this.isBusy(isBusy); },
      analysed: () => { this.changedAnalysis.fire(); },
      gaveUp: () => {
        this.running = '';
        this.fail('the server ended again and again; its last words are in the log', 'crash');
      },
    });
    this.running = wanted;
    this.isBusy(true);
  }

  private async search(): Promise<Search> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    return {
      setting: interpreterSetting(folders[0]?.uri),
      chosen: await this.python.interpreter(folders[0]?.uri),
      folders: folders.map((folder) => folder.uri.fsPath),
      environment: process.env,
      isTrusted: vscode.workspace.isTrusted,
    };
  }

  private async interpreterFor(folder: vscode.Uri | undefined): Promise<string | undefined> {
    const setting = interpreterSetting(folder).trim();
    if (setting !== '') {
      const search = { ...(await this.search()), ...(folder === undefined ? {} : { folders: [folder.fsPath] }) };
      return locate(setting, search, realWorld(this.launch)) ?? setting;
    }
    return await this.python.interpreter(folder);
  }

  /** The command that runs op-lint with some arguments. Throws words for the user where nothing can run it. */
  private commandOf(given: readonly string[]): [string, ...string[]] {
    const { runner } = this.resolution;
    if (runner === undefined) throw new Error(this.state.kind === 'failed' ? this.state.reason : 'no Python was found');
    return [runner.path, ...launchArguments(this.launch, 'run', ...given)];
  }

  private executable(): Executable {
    const [command, ...rest] = serverCommand().length > 0 ? (serverCommand() as [string, ...string[]]) : this.commandOf(['server']);
    this.log.info(`server: ${[command, ...rest].join(' ')}`);
    // Never in the workspace: a Python imports what it finds in the folder that it is started in.
    return { command, args: rest, options: { cwd: this.storage } };
  }

  private failForWantOfPython(): void {
    const verdict = lacking(this.resolution);
    if (verdict?.lacks === undefined) {
      const tried = this.resolution.verdicts.map((each) => `${each.named} ${each.words}`).join('; ');
      this.fail(`no Python 3.10 or newer was found to run the server${tried === '' ? '' : ` (${tried})`}`, 'python');
      return;
    }
    const reason = `it needs ${verdict.lacks.join(' and ')}, which ${verdict.path ?? verdict.named} does not have. Install it there with pip, or let the extension install it into its own folder.`;
    this.log.error(`${verdict.path ?? verdict.named} ${verdict.words}`);
    this.fail(reason, 'libraries', verdict.lacks);
  }

  private fail(reason: string, kind?: 'python' | 'libraries' | 'crash', lacks?: readonly string[]): void {
    this.log.error(reason);
    this.state = { kind: 'failed', reason, ...(lacks === undefined ? {} : { lacks }) };
    this.show();
    this.changedInformation.fire();
    if (kind !== undefined) void this.announce(kind, reason);
  }

  /** Say a fatal failure in a notification, once for each kind and version of the extension. */
  private async announce(kind: string, reason: string): Promise<void> {
    const announced = this.context.globalState.get<readonly string[]>(ANNOUNCED, []);
    const name = `${kind} ${(this.context.extension.packageJSON as { version: string }).version}`;
    if (announced.includes(name)) return;
    await this.context.globalState.update(ANNOUNCED, [...announced, name]);
    const install = `Install ${this.installation?.lacks.join(' and ') ?? ''}`;
    const choices = [...(kind === 'libraries' ? [install] : []), 'Show Logs'];
    const chosen = await vscode.window.showErrorMessage(`op-lint does not run: ${reason}`, ...choices);
    if (chosen === install) await vscode.commands.executeCommand('op-lint.installLibraries');
    else if (chosen !== undefined) this.showLogs();
  }

  private async install(interpreter: string, lacks: readonly string[]): Promise<void> {
    const tag = lacking(this.resolution)?.tag;
    if (tag === undefined) return;
    const target = vscode.Uri.joinPath(this.context.globalStorageUri, 'libraries', tag).fsPath;
    const given = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--upgrade', '--target', target];
    this.log.info(`install: ${[interpreter, ...given, ...lacks.map(requirement)].join(' ')}`);
    try {
      this.log.info(await run(interpreter, [...given, ...lacks.map(requirement)], this.storage, PATIENCE_INSTALL));
    } catch (error) {
      throw new Error(`${lacks.join(' and ')} could not be installed: pip of ${interpreter} ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    await this.restart();
  }

  private isBusy(isBusy: boolean): void {
    const { runner } = this.resolution;
    const command = serverCommand();
    const server = command.length > 0 || runner === undefined ? command.join(' ') : `${runner.answer.version ?? ''} on Python ${runner.answer.python.join('.')}`;
    const information = this.state.kind === 'running' ? this.state.information : [];
    this.state = { kind: 'running', isBusy, server, information };
    this.show();
    if (!isBusy) void this.learn();
  }

  private async learn(): Promise<void> {
    const information = await this.inform();
    if (this.state.kind !== 'running') return;
    this.state = { ...this.state, information };
    this.show();
    this.changedInformation.fire();
  }

  private async inform(): Promise<readonly Information[]> {
    if (this.client?.isRunning() !== true) return [];
    try {
      return await ask(this.client, 'op-lint.serverInformation');
    } catch (error) {
      this.log.info(`nothing to say yet: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  private show(): void {
    const { text, tooltip, severity } = shown(this.state, vscode.workspace.isTrusted, warning(this.resolution));
    this.item.text = text;
    this.item.tooltip = new vscode.MarkdownString(tooltip, true);
    void vscode.commands.executeCommand('setContext', 'op-lint.lacksLibraries', this.installation !== undefined);
    this.item.backgroundColor = severity === 'none' ? undefined : new vscode.ThemeColor(`statusBarItem.${severity}Background`);
  }
}

/** What pip is asked for. The versions that the server works with: see `python/requirements.txt` and pyproject.toml. */
function requirement(name: string): string {
  return name === 'libclang' ? 'libclang>=18.1.1,<19' : 'msgspec>=0.19';
}
