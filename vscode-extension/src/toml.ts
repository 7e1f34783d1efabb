/**
 * The settings of op-lint in TOML: which of them fit at a place of `op-lint.toml` or `pyproject.toml`. What is wrong there
 * the server says (OPL904). Nothing here knows VS Code.
 */
import { type Schema, toml } from './template';

const RULE_LISTS = new Set(['select', 'extend-select', 'ignore', 'per-file-ignores']);
const HEADER = /^\s*\[+\s*([^\]]+?)\s*\]+/;
const KEY = /^\s*([\w-]+)\s*=/;

export type Offer =
  | { readonly kind: 'keys'; readonly names: readonly string[] }
  | { readonly kind: 'values'; readonly texts: readonly string[] }
  | { readonly kind: 'rules' };

/** What can stand at a column of a line (both 0-based); undefined where op-lint has nothing to say. */
export function offered(schema: Schema, lines: readonly string[], line: number, column: number, isPyproject: boolean): Offer | undefined {
  const table = tableAt(lines, line);
  if (table === undefined ? isPyproject : !isOurs(table, isPyproject)) return undefined;
  const before = (lines[line] ?? '').slice(0, column);
  const inside = table?.split('.').at(-1);
  const key = keyAround(lines, line) ?? (inside !== undefined && RULE_LISTS.has(inside) ? inside : undefined);
  if (/^\s*[\w-]*$/.test(before) && key === undefined) {
    const taken = new Set(lines.map((each, index) => (index !== line && tableAt(lines, index) === table ? KEY.exec(each)?.[1] : undefined)));
    return { kind: 'keys', names: Object.keys(schema.properties).filter((name) => !taken.has(name)) };
  }
  if (key === undefined) return undefined;
  if (RULE_LISTS.has(key) && isInString(before)) return { kind: 'rules' };
  return schema.properties[key]?.type === 'boolean' && /=\s*\w*$/.test(before) ? { kind: 'values', texts: ['true', 'false'] } : undefined;
}

/** The setting whose key stands at a place, for a hover. */
export function keyAt(schema: Schema, lines: readonly string[], line: number, column: number, isPyproject: boolean): string | undefined {
  const table = tableAt(lines, line);
  const found = KEY.exec(lines[line] ?? '');
  const name = found?.[1];
  if (name === undefined || (table === undefined ? isPyproject : !isOurs(table, isPyproject))) return undefined;
  const start = (lines[line] ?? '').indexOf(name);
  return column >= start && column <= start + name.length && name in schema.properties ? name : undefined;
}

/** What a setting does, in Markdown. */
export function described(schema: Schema, name: string): string {
  const property = schema.properties[name];
  const standard = property?.default === undefined ? '' : `\n\nDefault: \`${toml(property.default)}\``;
  return `${property?.description ?? ''}${standard}`;
}

function tableAt(lines: readonly string[], line: number): string | undefined {
  for (let index = line; index >= 0; index -= 1) {
    const found = HEADER.exec(lines[index] ?? '');
    if (found && !(lines[index] ?? '').includes('=')) return found[1];
  }
  return undefined;
}

function isOurs(table: string, isPyproject: boolean): boolean {
  const name = table.replaceAll('"', '').replaceAll(' ', '');
  return isPyproject ? name === 'tool.op-lint' || name.startsWith('tool.op-lint.') : RULE_LISTS.has(name);
}

/** The key whose value, perhaps over several lines, goes on at a line. */
function keyAround(lines: readonly string[], line: number): string | undefined {
  let depth = 0;
  for (let index = line; index >= 0; index -= 1) {
    const text = lines[index] ?? '';
    const key = KEY.exec(text)?.[1];
    if (index < line) depth += (text.match(/\[/g) ?? []).length - (text.match(/\]/g) ?? []).length;
    if (key !== undefined) return index === line || depth > 0 ? key : undefined;
  }
  return undefined;
}

function isInString(before: string): boolean {
  return ((before.match(/"/g) ?? []).length + (before.match(/'/g) ?? []).length) % 2 === 1;
}
