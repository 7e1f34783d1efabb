/** How the page writes the states of the dispatch table, and what it shows of it. */
import type { Cell, Row, State, TableEntry } from '../protocol';

export interface Sign {
  readonly glyph: string;
  readonly words: string;
}

export const SIGNS: Readonly<Record<State, Sign>> = {
  kernel: { glyph: '✓', words: 'kernel' },
  composite: { glyph: 'C', words: 'composite kernel' },
  alias: { glyph: 'A', words: 'kernel of an alias key' },
  fallback: { glyph: 'f', words: 'backend fallback' },
  fallthrough: { glyph: '↷', words: 'fallthrough: skipped' },
  ambiguous: { glyph: '!', words: 'ambiguous: a call raises' },
  missing: { glyph: '✗', words: 'missing: a call raises' },
};

const UNKNOWN: Sign = { glyph: '·', words: 'not known without a torch' };

export function sign(state: State | null): Sign {
  return state === null ? UNKNOWN : SIGNS[state];
}

/** How the table marks an operator that has kernels and no definition: torch never calls them. */
export const NOT_DEFINED = 'no def';

/** Whether a definition was read, of this operator or of torch's own. */
export function isDefined(row: Row): boolean {
  return row.schema !== null || row.definitions.length > 0;
}

/** What a cell says in words, for its tooltip and for screen readers. */
export function cellWords(row: Row, key: string, cell: Cell | undefined): string {
  const { words } = sign(cell?.state ?? null);
  const kernel = cell?.kernel ? `, ${cell.kernel}` : '';
  const place = cell?.location ? ` (${placeWords(cell.location.uri, cell.location.range.start.line)})` : '';
  return `${row.op} at ${key}: ${words}${kernel}${place}`;
}

/** The last parts of a file's path, and the line. */
export function placeWords(uri: string, line: number): string {
  return `${decodeURIComponent(uri).split('/').slice(-2).join('/')}:${line + 1}`;
}

export interface Filter {
  readonly text: string;
  readonly namespace: string;
  readonly onlyMissing: boolean;
}

/** Whether a row is to be seen: every word of the filter is in its name or its schema, or names one of its kernels. */
export function isShown(row: Row, filter: Filter): boolean {
  if (filter.namespace !== '' && row.namespace !== filter.namespace) return false;
  if (filter.onlyMissing && !Object.values(row.cells).some((cell) => cell.state === 'missing' || cell.state === 'ambiguous')) return false;
  const kernels = Object.values(row.cells).map((cell) => cell.kernel ?? '');
  const text = [row.op, row.schema ?? '', ...kernels].join(' ').toLowerCase();
  return filter.text.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/**
 * Whether an entry of the whole table is worth a line: the call comes by, the operator has something of its own there, or
 * it is one of the usual backends and has nothing. What torch does for every operator is not.
 */
export function isTelling(entry: TableEntry, visited: ReadonlySet<string>): boolean {
  if (visited.has(entry.key)) return true;
  if (entry.state === 'missing') return USUAL_BACKENDS.has(entry.key);
  return entry.reason !== 'backend fallback' || entry.source === 'workspace';
}

const USUAL_BACKENDS: ReadonlySet<string> = new Set(['CPU', 'CUDA', 'Meta']);

/** How many of the rows have a kernel that runs at a key. */
export function coverage(rows: readonly Row[], key: string): number {
  return rows.filter((row) => {
    const state = row.cells[key]?.state;
    return state === 'kernel' || state === 'composite' || state === 'alias';
  }).length;
}
