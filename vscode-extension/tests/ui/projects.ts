/** Workspaces to test in: copies, so that a test may change them. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const REPOSITORY = path.resolve('..');

/** The Python of the checkout: it has torch and libclang. */
export const PYTHON = process.env['OP_LINT_PYTHON'] ?? path.join(REPOSITORY, '.venv/bin/python');

/** A copy of the example project. */
export function exampleProject(): string {
  const folder = path.join(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'op-lint-project-'))), 'myops');
  fs.cpSync(path.join(REPOSITORY, 'examples/myops'), folder, { recursive: true });
  return folder;
}

/** The line (1-based) and column (1-based) at which a text first stands in a file. */
export function find(folder: string, file: string, text: string): { line: number; column: number } {
  const lines = fs.readFileSync(path.join(folder, file), 'utf8').split('\n');
  const line = lines.findIndex((each) => each.includes(text));
  if (line < 0) throw new Error(`${file} does not hold ${text}`);
  return { line: line + 1, column: (lines[line] ?? '').indexOf(text) + 1 };
}
