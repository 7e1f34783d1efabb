/**
 * The language client: what goes to the server, and what comes back. No popups: what fails goes to the log.
 *
 * A bundle of its own, loaded when the first server is started: the library behind it is most of our code, and VS Code
 * waits for the extension to be activated, not for this.
 */
import * as vscode from 'vscode';
import {
  type ConfigurationItem,
  type ConfigurationParams,
  CloseAction,
  ErrorAction,
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  ShowMessageNotification,
} from 'vscode-languageclient/node';
import { Crashes } from './crashes';
import { ruleUri } from './documents';
import { SECTION } from './settings';

const LANGUAGES = ['c', 'cpp', 'cuda-cpp', 'cuda', 'objective-cpp', 'python', 'cmake'];
const PATTERNS = ['**/*.{cu,cuh,hip,mm}', '**/{CMakeLists.txt,*.cmake}', '**/{pyproject.toml,op-lint.toml}'];
/** For where no extension gives these files a language that we know. */

const SELECTOR = [
  ...LANGUAGES.flatMap((language) => ['file', 'untitled'].map((scheme) => ({ scheme, language }))),
  ...PATTERNS.map((pattern) => ({ scheme: 'file', pattern })),
];

/** What the client asks of the extension around it. */
export interface Host {
  readonly log: vscode.LogOutputChannel;
  readonly trace: vscode.LogOutputChannel;
  /** The Python whose torch the sources of a folder are held against, as far as the editor knows. */
  interpreterFor(folder: vscode.Uri | undefined): Promise<string | undefined>;
  busy(isBusy: boolean): void;
  analysed(): void;
  /** The server has ended by itself again and again. */
  gaveUp(): void;
}

class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }

  override info(message: string, data?: unknown): void {
    super.info(message, data, false);
  }
}

/** Start a server and talk to it. Rejects where it does not come up. */
export async function startClient(executable: Executable, host: Host): Promise<LanguageClient> {
  const crashes = new Crashes();
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    outputChannel: host.log,
    traceOutputChannel: host.trace,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: {
      status: true,
      trusted: vscode.workspace.isTrusted,
      settings: await settings({ section: SECTION }, host),
    },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed() {
        const again = crashes.isWorthAnotherTry(Date.now());
        if (!again) host.gaveUp();
        return { action: again ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
      },
    },
    middleware: {
      workspace: {
        configuration: (params: ConfigurationParams) => Promise.all(params.items.map((item) => settings(item, host))),
      },
      handleDiagnostics(uri, diagnostics, next) {
        next(uri, diagnostics.map(documented));
      },
      async provideDiagnostics(document, previous, token, next) {
        const report = await next(document, previous, token);
        return report && 'items' in report ? { ...report, items: report.items.map(documented) } : report;
      },
    },
    markdown: { isTrusted: { enabledCommands: ['op-lint.showTable', 'op-lint.explainCall', 'op-lint.openRule'] } },
  };
  const client = new QuietClient(SECTION, 'op-lint', executable, options);
  client.onNotification('op-lint/status', ({ busy }: { busy: boolean }) => { host.busy(busy); });
  client.onNotification('op-lint/analysisChanged', () => { host.analysed(); });
  client.onNotification(ShowMessageNotification.type, ({ message }) => { host.log.info(message); });
  await client.start();
  return client;
}

/** The settings of a folder, with the interpreter that the editor has chosen for it. */
async function settings(item: ConfigurationItem, host: Host): Promise<Record<string, unknown> | null> {
  if (item.section !== SECTION) return null;
  const folder = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
  const values = vscode.workspace.getConfiguration(undefined, folder).get<Record<string, unknown>>(SECTION, {});
  return { ...values, interpreter: (await host.interpreterFor(folder)) ?? null };
}

/** A diagnostic whose code opens the rule's documentation, which comes with the server: no web page is needed. */
function documented(diagnostic: vscode.Diagnostic): vscode.Diagnostic {
  if (typeof diagnostic.code === 'string') {
    diagnostic.code = { value: diagnostic.code, target: ruleUri(diagnostic.code) };
  }
  return diagnostic;
}
