/** The server's own commands. */
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Answers } from './protocol';

/** The server's answer to one of its commands. Rejects with words for the user. */
export async function ask<Name extends keyof Answers>(client: LanguageClient, name: Name, ...given: unknown[]): Promise<Answers[Name]> {
  return await client.sendRequest<Answers[Name]>('workspace/executeCommand', { command: name, arguments: given });
}
