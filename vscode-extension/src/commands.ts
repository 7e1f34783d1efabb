/** The commands of the palette. A failure of one is shown: the user has asked. */
import * as vscode from 'vscode';
import type { CallHierarchyItem } from 'vscode-languageclient/node';
import type { Controller } from './controller';
import type { Documents } from './documents';
import { type Schema, configurationTemplate } from './template';
import type { Tables } from './table/panel';

export function registerCommands(controller: Controller, documents: Documents, tables: Tables, schema: () => Promise<Schema>): vscode.Disposable {
  const commands: Record<string, (...given: unknown[]) => Promise<void>> = {
    'op-lint.restartServer': () => controller.restart(),
    'op-lint.showLogs': async () => { controller.showLogs(); await Promise.resolve(); },
    'op-lint.showServerInformation': async () => { await documents.showPage('op-lint server information', () => controller.describe()); },
    'op-lint.showTable': async (operator) => { await tables.show(typeof operator === 'string' ? operator : undefined); },
    'op-lint.explainCall': async (operator) => { await tables.show(typeof operator === 'string' ? operator : await operatorHere(controller), true); },
    'op-lint.openRule': async (code) => {
      const chosen = typeof code === 'string' ? code : await chooseRule(controller);
      if (chosen !== undefined) await documents.showRule(chosen);
    },
    'op-lint.createConfiguration': async () => { await createConfiguration(await schema()); },
    'op-lint.installLibraries': () => install(controller),
    'op-lint.showMenu': () => showMenu(controller),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, command]) =>
      vscode.commands.registerCommand(name, async (...given: unknown[]) => {
        try {
          await command(...given);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          controller.log.error(`${name}: ${message}`);
          void vscode.window.showErrorMessage(`op-lint: ${message}`);
        }
      }),
    ),
  );
}

/** The operator under the cursor. Rejects where there is none. */
async function operatorHere(controller: Controller): Promise<string> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) throw new Error('open a file and put the cursor on an operator\'s name first');
  const client = await controller.server();
  const found = await client.sendRequest<CallHierarchyItem[] | null>('textDocument/prepareCallHierarchy', {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
    position: client.code2ProtocolConverter.asPosition(editor.selection.active),
  });
  const data = found?.[0]?.data as { operator?: string } | undefined;
  if (data?.operator === undefined) throw new Error('there is no operator under the cursor: put it on a name in `m.def`, `m.impl` or `torch.ops…`');
  return data.operator;
}

/** A rule, chosen from the list; those found at the cursor come first. */
async function chooseRule(controller: Controller): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  const here = new Set(
    (editor === undefined ? [] : vscode.languages.getDiagnostics(editor.document.uri))
      .filter((each) => each.source === 'op-lint' && each.range.contains(editor?.selection.active ?? each.range.start))
      .map((each) => (typeof each.code === 'object' ? String(each.code.value) : String(each.code))),
  );
  const items = (await controller.rules()).map(({ code, name, summary }) => ({ label: code, description: name, detail: summary }));
  const order = [...items.filter((item) => here.has(item.label)), ...items.filter((item) => !here.has(item.label))];
  const chosen = await vscode.window.showQuickPick(order, { placeHolder: 'Rule to read about', matchOnDescription: true, matchOnDetail: true });
  return chosen?.label;
}

/** Make `op-lint.toml` with every setting in it, each a comment that says what it does; open the one that is there. */
async function createConfiguration(schema: Schema): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
  if (folder === undefined) {
    if (folders.length === 0) throw new Error('open a folder first: the configuration belongs to a project');
    return;
  }
  const file = vscode.Uri.joinPath(folder.uri, 'op-lint.toml');
  const isThere = await vscode.workspace.fs.stat(file).then(() => true, () => false);
  if (!isThere) await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(configurationTemplate(schema)));
  await vscode.window.showTextDocument(file);
}

async function install(controller: Controller): Promise<void> {
  const { installation } = controller;
  if (installation === undefined) {
    void vscode.window.showInformationMessage('op-lint: the server has everything that it needs.');
    return;
  }
  const title = `op-lint: installing ${installation.lacks.join(' and ')}`;
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => installation.install());
}

async function showMenu(controller: Controller): Promise<void> {
  const entries: [string, string][] = [
    ...(controller.installation === undefined ? [] : [['op-lint.installLibraries', `$(cloud-download) Install ${controller.installation.lacks.join(' and ')}`] as [string, string]]),
    ['op-lint.showTable', '$(table) Show dispatch table'],
    ['op-lint.showServerInformation', '$(info) Show server information'],
    ['op-lint.showLogs', '$(output) Show logs'],
    ['op-lint.restartServer', '$(refresh) Restart server'],
    ['op-lint.openRule', '$(book) Open rule documentation'],
    ['op-lint.createConfiguration', '$(settings-gear) Create or open the configuration'],
  ];
  const chosen = await vscode.window.showQuickPick(entries.map(([command, label]) => ({ command, label })), { placeHolder: 'op-lint' });
  if (chosen !== undefined) await vscode.commands.executeCommand(chosen.command);
}
