/** The dispatch table view: one panel that follows the server's knowledge. */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { ask } from '../ask';
import type { Controller } from '../controller';
import type { Place } from '../protocol';
import { Latest } from './latest';
import { type FromPage, PLAIN_CALL, type ToPage } from './messages';

const TYPE = 'op-lint.table';

export class Tables implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private panel: vscode.WebviewPanel | undefined;
  private operator: string | null = null;
  private call = PLAIN_CALL;
  private explain = false;
  private isReady = false;
  private readonly latest = new Latest(() => this.refresh());
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly controller: Controller,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.subscriptions = [
      controller.onAnalysis(() => { this.ask(); }),
      vscode.window.registerWebviewPanelSerializer(TYPE, this),
    ];
  }

  /** Show the matrix, or one operator; with `explain` the path of a call comes first. */
  async show(operator?: string, explain = false): Promise<void> {
    await this.controller.server();
    this.operator = operator ?? null;
    this.explain = explain;
    if (this.panel === undefined) {
      const column = vscode.window.activeTextEditor === undefined ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
      this.adopt(vscode.window.createWebviewPanel(TYPE, 'Dispatch Table', column, { enableFindWidget: true }));
    } else {
      this.panel.reveal();
    }
    this.ask();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.panel?.dispose();
    this.adopt(panel);
    return Promise.resolve();
  }

  dispose(): void {
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    this.isReady = false;
    panel.iconPath = vscode.Uri.joinPath(this.extensionUri, 'media', 'icon.png');
    panel.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extensionUri, 'dist')] };
    panel.webview.onDidReceiveMessage((message: FromPage) => { void this.receive(message); });
    panel.onDidChangeViewState(() => { this.ask(); });
    panel.onDidDispose(() => { if (this.panel === panel) this.panel = undefined; });
    panel.webview.html = this.html(panel.webview);
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'open':
        await this.open(message.place);
        return;
      case 'ready':
        this.isReady = true;
        this.operator ??= message.operator;
        this.call = message.call;
        break;
      case 'operator':
        this.operator = message.operator;
        this.call = message.call;
        break;
    }
    this.ask();
  }

  /** Go to a registration, beside the table where that is where the editors are. */
  private async open(place: Place): Promise<void> {
    const client = await this.controller.server();
    const uri = client.protocol2CodeConverter.asUri(place.uri);
    const selection = client.protocol2CodeConverter.asRange(place.range);
    const open = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    const other = vscode.window.tabGroups.all.find((group) => group.viewColumn !== this.panel?.viewColumn);
    const viewColumn = open?.viewColumn ?? other?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(uri, { selection, viewColumn });
  }

  private ask(): void {
    if (this.panel?.visible === true && this.isReady) this.latest.ask();
  }

  private async refresh(): Promise<void> {
    try {
      const client = await this.controller.server();
      if (this.operator === null) {
        this.post({ type: 'matrix', matrices: await ask(client, 'op-lint.matrix', {}) });
        return;
      }
      const [table, why] = await Promise.all([
        ask(client, 'op-lint.table', this.operator),
        ask(client, 'op-lint.why', this.operator, this.call),
      ]);
      this.post({ type: 'operator', table, why, explain: this.explain });
    } catch (error) {
      this.post({ type: 'problem', message: error instanceof Error ? error.message : String(error) });
    }
  }

  private post(message: ToPage): void {
    void this.panel?.webview.postMessage(message);
  }

  private html(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString('hex');
    const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(this.extensionUri, 'dist', name)).toString();
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${file('view.css')}">
<title>Dispatch Table</title>
</head>
<body>
<main id="page"></main>
<script nonce="${nonce}" src="${file('view.js')}"></script>
</body>
</html>`;
  }
}
