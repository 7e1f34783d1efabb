/** The interpreter that the Python extension has chosen, where that extension is installed. */
import * as vscode from 'vscode';

const IDENTIFIER = 'ms-python.python';

/** Milliseconds that we wait for another extension before we go on without it. */
const PATIENCE = 10_000;

/** The part that is used of what the Python extension offers to others. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: { readonly path: string }): Promise<
      { readonly executable: { readonly uri?: vscode.Uri } } | undefined
    >;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** Follows the choice of the Python extension. `changed` is called when another interpreter is chosen. */
export class PythonExtension implements vscode.Disposable {
  private api: PythonApi | undefined;
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly changed: () => void,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      vscode.extensions.onDidChange(() => {
        if (this.api === undefined && vscode.extensions.getExtension(IDENTIFIER)) this.changed();
      }),
    );
  }

  /** The interpreter for a folder; undefined where there is no Python extension, or it has none. */
  async interpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
    const api = await this.connect();
    if (api === undefined) return undefined;
    try {
      const environment = api.environments.getActiveEnvironmentPath(folder);
      const found = await withPatience(api.environments.resolveEnvironment(environment));
      return found?.executable.uri?.fsPath;
    } catch (error) {
      this.log.warn(`the Python extension does not say which interpreter it uses: ${String(error)}`);
      return undefined;
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async connect(): Promise<PythonApi | undefined> {
    const extension = vscode.extensions.getExtension<PythonApi | undefined>(IDENTIFIER);
    if (this.api !== undefined || extension === undefined) return this.api;
    try {
      const api = await withPatience(Promise.resolve(extension.activate()));
      if (api?.environments === undefined) return undefined;
      this.api = api;
      this.subscriptions.push(api.environments.onDidChangeActiveEnvironmentPath(() => { this.changed(); }));
    } catch (error) {
      this.log.warn(`the Python extension does not start: ${String(error)}`);
    }
    return this.api;
  }
}

async function withPatience<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const given = new Promise<undefined>((done) => { timer = setTimeout(() => { done(undefined); }, PATIENCE); });
  try {
    return await Promise.race([work, given]);
  } finally {
    clearTimeout(timer);
  }
}
