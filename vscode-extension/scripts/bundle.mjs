// Runs bundle.py with $PYTHON, the checkout's own environment, or the python3 on PATH; arguments are passed on.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const own = process.platform === 'win32' ? '../.venv/Scripts/python.exe' : '../.venv/bin/python';
const python = process.env.PYTHON ?? (existsSync(own) ? own : 'python3');
const { status, error } = spawnSync(python, ['scripts/bundle.py', ...process.argv.slice(2)], { stdio: 'inherit' });
if (error) console.error(`${python} cannot be run: ${error.message}`);
process.exit(status ?? 1);
