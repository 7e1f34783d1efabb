/** The settings of the user, as VS Code has them. */
import * as vscode from 'vscode';

export const SECTION = 'op-lint';

/** The settings that decide what runs; a change of another is told to the server and no more. */
const DECIDING = ['interpreter', 'server'].map((name) => `${SECTION}.${name}`);

export function interpreterSetting(folder?: vscode.Uri): string {
  return vscode.workspace.getConfiguration(SECTION, folder).get<string>('interpreter', '');
}

/** A command that starts the server instead of everything that is looked for; empty where there is none. */
export function serverCommand(): readonly string[] {
  return vscode.workspace.getConfiguration(SECTION).get<string[]>('server.command', []);
}

export function importStrategy(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>('server.importStrategy', 'bundled');
}

export function decidesWhatRuns(event: vscode.ConfigurationChangeEvent): boolean {
  return DECIDING.some((name) => event.affectsConfiguration(name));
}
