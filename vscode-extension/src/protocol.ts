/** What the server answers besides LSP: `docs/clients.md` in types. */
import type { Range } from 'vscode-languageclient/node';

export type State = 'kernel' | 'composite' | 'alias' | 'fallback' | 'fallthrough' | 'ambiguous' | 'missing';

export interface Place {
  readonly uri: string;
  readonly range: Range;
}

export interface Cell {
  readonly state: State | null;
  readonly reason: string | null;
  readonly kernel: string | null;
  readonly kind: string | null;
  readonly location: Place | null;
}

export interface Row {
  readonly op: string;
  readonly namespace: string;
  readonly name: string;
  readonly overload: string;
  readonly schema: string | null;
  readonly definitions: readonly Place[];
  readonly uses: number;
  readonly cells: Readonly<Record<string, Cell>>;
}

export interface Matrix {
  readonly root: string;
  readonly revision: number;
  readonly torch: string | null;
  readonly namespaces: readonly string[];
  readonly devices: readonly string[];
  readonly keys: readonly { readonly key: string; readonly kind: string | null }[];
  readonly operators: readonly Row[];
}

export interface TableEntry {
  readonly key: string;
  readonly kind: string;
  readonly state: State;
  readonly reason: string;
  readonly kernel: string | null;
  readonly path: string | null;
  readonly line: number | null;
  readonly source: string | null;
  readonly location: Place | null;
}

export interface Table {
  readonly op: string;
  readonly schema: string | null;
  readonly torch: string;
  readonly keys: readonly TableEntry[];
}

/** A call, as the toggles of the view have it. */
export interface Call {
  readonly device: string;
  readonly layout: string;
  readonly requiresGrad: boolean;
  readonly autocast: boolean;
  readonly inferenceMode: boolean;
  readonly functionalize: boolean;
  readonly transforms: readonly string[];
  readonly mode: string | null;
}

export interface Step {
  readonly key: string;
  readonly outcome: 'runs' | 'calls on' | 'skipped' | 'raises';
  readonly reason: string;
  readonly note: string;
  readonly kernel: string | null;
  readonly path: string | null;
  readonly line: number | null;
  readonly source: string | null;
  readonly location: Place | null;
}

export interface Why {
  readonly op: string;
  readonly schema: string | null;
  readonly keySet: readonly string[];
  readonly excluded: readonly string[];
  readonly steps: readonly Step[];
  readonly error: { readonly type: string; readonly text: string } | null;
  readonly cures: readonly string[];
  readonly devices: readonly string[];
  readonly layouts: readonly string[];
  readonly transforms: readonly string[];
  readonly modes: readonly string[];
}

export interface Information {
  readonly opLint: string;
  readonly python: string;
  readonly project: string;
  readonly configuration: string | null;
  readonly files: Readonly<Record<string, number>>;
  readonly operators: number;
  readonly unresolved: readonly { readonly path: string; readonly line: number; readonly reason: string }[];
  readonly unread: readonly { readonly path: string; readonly line: number; readonly code: string; readonly message: string }[];
  readonly targets: readonly string[];
  readonly torch: string | null;
  readonly origin: string | null;
  readonly interpreter: string | null;
  readonly candidates: readonly { readonly source: string; readonly named: string | null; readonly verdict: string }[];
  readonly problems: readonly string[];
  readonly rulePacks: readonly string[];
  readonly rules: number;
  readonly skipped: readonly unknown[];
  readonly failures: readonly string[];
  readonly processes: readonly number[];
}

/** What the server answers to each command of its own, by the command's name. */
export interface Answers {
  'op-lint.matrix': readonly Matrix[];
  'op-lint.table': Table;
  'op-lint.why': Why;
  'op-lint.serverInformation': readonly Information[];
  'op-lint.restart': null;
}

