/** Completion and hover in `op-lint.toml` and in `[tool.op-lint]` of `pyproject.toml`. */
import * as vscode from 'vscode';
import type { Schema } from './template';
import { described, keyAt, offered } from './toml';

/** A rule as the completion offers it. */
export interface RuleName {
  readonly code: string;
  readonly name: string;
  readonly summary: string;
}

const FILES = [{ scheme: 'file', pattern: '**/op-lint.toml' }, { scheme: 'file', pattern: '**/pyproject.toml' }];

export function registerToml(schema: () => Promise<Schema>, rules: () => Promise<readonly RuleName[]>): vscode.Disposable {
  const lines = (document: vscode.TextDocument): string[] => document.getText().split(/\r?\n/);
  const isPyproject = (document: vscode.TextDocument): boolean => document.uri.path.endsWith('/pyproject.toml');
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(
      FILES,
      {
        async provideCompletionItems(document, position) {
          const settings = await schema();
          const offer = offered(settings, lines(document), position.line, position.character, isPyproject(document));
          switch (offer?.kind) {
            case undefined:
              return [];
            case 'keys':
              return offer.names.map((name) => key(name, described(settings, name)));
            case 'values':
              return offer.texts.map((text) => new vscode.CompletionItem(text, vscode.CompletionItemKind.Value));
            case 'rules':
              return (await rules()).map(rule);
          }
        },
      },
      '"',
      '\'',
    ),
    vscode.languages.registerHoverProvider(FILES, {
      async provideHover(document, position) {
        const settings = await schema();
        const name = keyAt(settings, lines(document), position.line, position.character, isPyproject(document));
        return name === undefined ? undefined : new vscode.Hover(new vscode.MarkdownString(described(settings, name)));
      },
    }),
  );
}

function key(name: string, documentation: string): vscode.CompletionItem {
  const item = new vscode.CompletionItem(name, vscode.CompletionItemKind.Property);
  item.documentation = new vscode.MarkdownString(documentation);
  item.insertText = `${name} = `;
  return item;
}

function rule({ code, name, summary }: RuleName): vscode.CompletionItem {
  const item = new vscode.CompletionItem({ label: code, description: name }, vscode.CompletionItemKind.Constant);
  item.detail = summary;
  item.filterText = `${code} ${name}`;
  return item;
}
