/** The extension's way in: everything is made here, and nothing is waited for. */
import * as fs from 'node:fs/promises';
import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { Controller } from './controller';
import { Documents } from './documents';
import { Tables } from './table/panel';
import type { Schema } from './template';
import { registerToml } from './toml_features';

let controller: Controller | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const own = new Controller(context);
  controller = own;
  const documents = new Documents((code) => own.commandLine('rule', code));
  own.onInformation(() => { documents.rewrite(); });
  const tables = new Tables(own, context.extensionUri);
  const schema = async (): Promise<Schema> => {
    const file = vscode.Uri.joinPath(context.extensionUri, 'bundled', 'op-lint.schema.json').fsPath;
    return JSON.parse(await fs.readFile(file, 'utf8')) as Schema;
  };
  context.subscriptions.push(own, documents, tables, registerCommands(own, documents, tables, schema), registerToml(schema, () => own.rules()));
  void vscode.commands.executeCommand('setContext', 'op-lint.active', true);
  own.update();
}

export async function deactivate(): Promise<void> {
  await controller?.stop();
}
