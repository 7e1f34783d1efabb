/** The page that says what was found: for a user who wonders, and for a report of a fault. */
import type { Information } from './protocol';
import type { Resolution } from './server/resolution';
import { isSnapshot } from './state';

export interface Facts {
  readonly extension: string;
  readonly editor: string;
  readonly isTrusted: boolean;
  readonly command: readonly string[];
  readonly resolution: Resolution;
  readonly information: readonly Information[];
  readonly failure: string | undefined;
}

/** What the server's kinds of files are called. */
const FILES: Readonly<Record<string, string>> = { cpp: 'C++', python: 'Python', build: 'build' };

/** The page, in Markdown. */
export function page(facts: Facts): string {
  const { resolution, information } = facts;
  return [
    '# op-lint: what was found',
    ...(facts.failure === undefined ? [] : [`**op-lint does not run:** ${facts.failure}`]),
    table(['', ''], [
      ['extension', facts.extension],
      ['editor', facts.editor],
      ['workspace', facts.isTrusted ? 'trusted' : 'restricted: nothing that it holds or names is run'],
      ['server', facts.command.length > 0 ? code(facts.command.join(' ')) : server(resolution)],
    ]),
    '## The Python that runs the server',
    facts.command.length > 0
      ? '`op-lint.server.command` says what to run; nothing was looked for.'
      : table(
          ['place', 'names', ''],
          resolution.verdicts.map((verdict) => [verdict.origin, code(verdict.path ?? verdict.named), verdict.words]),
        ),
    ...information.flatMap(project),
    '',
  ].join('\n\n');
}

function server(resolution: Resolution): string {
  const { runner } = resolution;
  if (runner === undefined) return 'none';
  const whose = runner.answer.source === 'environment' ? 'installed there' : 'that comes with the extension';
  return `op-lint ${runner.answer.version ?? ''}, ${whose}, on Python ${runner.answer.python.join('.')} (${code(runner.path)})`;
}

function project(found: Information): string[] {
  const torch =
    found.torch === null ? 'none yet' : isSnapshot(found) ? `snapshot of ${found.torch}` : `${found.torch} of ${code(found.interpreter ?? '')}`;
  const { registering = 0, ...kinds } = found.files;
  const files = Object.entries(kinds).map(([kind, count]) => `${count} ${FILES[kind] ?? kind}`);
  const places = (all: readonly { readonly path: string; readonly line: number }[], words: (index: number) => string): string[] =>
    all.map((each, index) => `- ${code(`${each.path}:${each.line}`)} ${words(index)}`);
  return [
    `## ${found.project}`,
    table(['', ''], [
      ['configuration', found.configuration === null ? 'none' : code(found.configuration)],
      ['files', `${files.join(', ')}; ${registering} of them register operators`],
      ['operators', String(found.operators)],
      ['build targets', found.targets.length === 0 ? 'none' : found.targets.map(code).join(', ')],
      ['torch', torch],
      ['rules', `${found.rules}, of ${found.rulePacks.join(', ')}`],
      ['processes', found.processes.join(', ')],
    ]),
    ...(found.candidates.length === 0
      ? []
      : ['### Where torch was looked for', table(['place', 'names', ''], found.candidates.map((each) => [each.source, code(each.named ?? '–'), each.verdict]))]),
    ...list('### Problems', [...found.problems, ...found.failures].map((problem) => `- ${problem}`)),
    ...list('### Registrations that could not be read', places(found.unresolved, (index) => found.unresolved[index]?.reason ?? '')),
    ...list('### Places that were not understood', places(found.unread, (index) => found.unread[index]?.message ?? '')),
  ];
}

function list(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [title, items.join('\n')];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('`', '\'')}\``;
}
