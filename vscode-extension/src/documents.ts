/** Read-only Markdown pages that the extension makes: the documentation of rules, what the server has found. */
import * as vscode from 'vscode';

const RULE = 'op-lint-rule';
const PAGE = 'op-lint-page';

export function ruleUri(code: string): vscode.Uri {
  return vscode.Uri.from({ scheme: RULE, path: `/${code}.md` });
}

/** Serves the pages. `rule` gives the documentation of a code. */
export class Documents implements vscode.Disposable {
  private readonly pages = new Map<string, () => Promise<string>>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable;

  constructor(rule: (code: string) => Promise<string>) {
    this.registrations = vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(RULE, {
        provideTextDocumentContent: (uri) => rule(uri.path.replace(/^\/|\.md$/g, '')),
      }),
      vscode.workspace.registerTextDocumentContentProvider(PAGE, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: (uri) => this.pages.get(uri.path)?.() ?? '',
      }),
    );
  }

  /** Show the documentation of a rule, rendered. */
  async showRule(code: string): Promise<void> {
    await preview(ruleUri(code));
  }

  /** Show a page of Markdown under a title, rendered; `write` writes it again at each `rewrite`. */
  async showPage(title: string, write: () => Promise<string>): Promise<void> {
    const uri = vscode.Uri.from({ scheme: PAGE, path: `/${title}.md` });
    this.pages.set(uri.path, write);
    this.changed.fire(uri);
    await preview(uri);
  }

  /** What the pages say may have changed: those that are open are written again. */
  rewrite(): void {
    for (const path of this.pages.keys()) this.changed.fire(vscode.Uri.from({ scheme: PAGE, path }));
  }

  dispose(): void {
    this.registrations.dispose();
  }
}

async function preview(uri: vscode.Uri): Promise<void> {
  if (vscode.extensions.getExtension('vscode.markdown-language-features')) {
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  } else {
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}
