/** Workspaces to test in: copies, so that a test may change them. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const REPOSITORY = path.resolve('..');

/** The Python of the checkout: it has torch and libclang. */
export const PYTHON = path.resolve(process.env['OP_LINT_PYTHON'] ?? path.join(REPOSITORY, '.venv/bin/python'));

const scratches: string[] = [];

/** A new folder; `removeScratch` takes it away. */
export function scratchFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'op-lint-project-')));
  scratches.push(folder);
  return folder;
}

export function removeScratch(): void {
  for (const folder of scratches) fs.rmSync(folder, { recursive: true, force: true });
}

/** A copy of the example project. */
export function exampleProject(name = 'myops', parent = scratchFolder()): string {
  const folder = path.join(parent, name);
  fs.cpSync(path.join(REPOSITORY, 'examples/myops'), folder, { recursive: true });
  return folder;
}

/** Write a file below a folder. */
export function write(folder: string, file: string, text: string, mode = 0o644): string {
  const target = path.join(folder, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, text, { mode });
  return target;
}

/** A Python of its own, with pip and without anything else. */
export function bareEnvironment(): string {
  const folder = path.join(scratchFolder(), 'bare');
  const done = spawnSync(PYTHON, ['-m', 'venv', folder], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return folder;
}

const REPACK = `
import sys, zipfile
from importlib.metadata import distribution
found = distribution("libclang")
tag = [line for line in found.read_text("WHEEL").splitlines() if line.startswith("Tag: py3")][0][5:]
with zipfile.ZipFile(f"{sys.argv[1]}/libclang-{found.version}-{tag}.whl", "w") as wheel:
    for file in found.files:
        if "__pycache__" not in file.parts:
            wheel.write(file.locate(), str(file))
`;

/** A folder with libclang's wheel, made again of what is installed: so pip can install it without a network. */
export function libclangWheel(): string {
  const folder = scratchFolder();
  const done = spawnSync(PYTHON, ['-c', REPACK, folder], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return folder;
}

/** The line (1-based) and column (1-based) at which a text first stands in a file. */
export function find(folder: string, file: string, text: string): { line: number; column: number } {
  const lines = fs.readFileSync(path.join(folder, file), 'utf8').split('\n');
  const line = lines.findIndex((each) => each.includes(text));
  if (line < 0) throw new Error(`${file} does not hold ${text}`);
  return { line: line + 1, column: (lines[line] ?? '').indexOf(text) + 1 };
}
