// Makes op-lint-TARGET.vsix of what `build` and `bundle` have made, and fails on any warning of vsce.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

const MOST_BYTES = 3_000_000;

const { target } = JSON.parse(readFileSync('bundled/about.json', 'utf8'));
const output = `op-lint-${target}.vsix`;
const given = ['package', '--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository', '--out', output];
if (target !== 'universal') given.push('--target', target);
const { status, stdout, stderr } = spawnSync('node', ['node_modules/@vscode/vsce/vsce', ...given], {
  encoding: 'utf8',
  env: { ...process.env, npm_lifecycle_event: '' },
});
process.stdout.write(stdout);
process.stderr.write(stderr);
if (status !== 0) process.exit(status ?? 1);
if (/warning/i.test(stdout + stderr)) {
  console.error('vsce has warned, see above');
  process.exit(1);
}
const { size } = statSync(output);
console.log(`${output}: ${size.toLocaleString('en')} bytes`);
if (size >= MOST_BYTES) {
  console.error(`that is more than the ${MOST_BYTES.toLocaleString('en')} bytes that we allow ourselves`);
  process.exit(1);
}
