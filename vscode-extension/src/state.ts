/** What the extension is at, and how the status item says it. Nothing here knows VS Code. */
import type { Information } from './protocol';

export type State =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly isBusy: boolean; readonly server: string; readonly information: readonly Information[] }
  | { readonly kind: 'failed'; readonly reason: string; readonly lacks?: readonly string[] };

export interface Shown {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: 'none' | 'warning' | 'error';
}

/** The status item for a state; `warning` is what the user should know although the server runs. */
export function shown(state: State, isTrusted: boolean, warning: string | undefined): Shown {
  const notes = [
    ...(warning === undefined ? [] : [`$(warning) ${warning}`]),
    ...(isTrusted ? [] : ['$(shield) Restricted: nothing that this workspace holds or names is run, so its own torch is not read.']),
  ];
  switch (state.kind) {
    case 'starting':
      return { text: '$(loading~spin) op-lint', tooltip: paragraphs('op-lint is starting', notes), severity: 'none' };
    case 'failed': {
      const cure = state.lacks === undefined ? '' : `\n\nClick, and choose *Install ${state.lacks.join(' and ')}*.`;
      return { text: '$(error) op-lint', tooltip: paragraphs(`op-lint does not run: ${state.reason}${cure}`, notes), severity: 'error' };
    }
    case 'running': {
      const icon = state.isBusy ? '$(loading~spin)' : warning === undefined ? '$(pass)' : '$(warning)';
      const torch = torchs(state.information);
      const lines = [
        `**op-lint** ${state.server}`,
        ...state.information.map(described),
        ...state.information.flatMap((each) => each.problems.map((problem) => `$(warning) ${problem}`)),
      ];
      return {
        text: `${icon} op-lint${torch === '' ? '' : ` · ${torch}`}`,
        tooltip: paragraphs(lines.join('\n\n'), notes),
        severity: warning === undefined ? 'none' : 'warning',
      };
    }
  }
}

/** The torch that the sources are held against, in the few letters that a status bar has room for. */
export function torchs(information: readonly Information[]): string {
  const versions = new Set(information.filter((each) => each.torch !== null).map((each) => `torch ${short(each)}`));
  return [...versions].join(', ');
}

/** `2.13.0`, and that it is a snapshot where it is one. */
function short(information: Information): string {
  const version = (information.torch ?? '').split('+')[0] ?? '';
  return isSnapshot(information) ? `${version} (snapshot)` : version;
}

/** Whether the torch is one of those that come with op-lint, as none could be read. */
export function isSnapshot(information: Information): boolean {
  return information.origin === 'snapshot';
}

function described(information: Information): string {
  const torch =
    information.torch === null
      ? 'no torch yet'
      : isSnapshot(information)
        ? `held against the snapshot of torch ${information.torch} that comes with op-lint`
        : `held against torch ${information.torch} of \`${information.interpreter ?? ''}\``;
  return `\`${information.project}\`: ${information.operators} operators, ${torch}`;
}

function paragraphs(first: string, rest: readonly string[]): string {
  return [first, ...rest].join('\n\n');
}
