// Makes op-lint-TARGET.vsix of what `build` and `bundle` have made, and fails on any warning of vsce.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const MOST_BYTES = 3_000_000;
const STAGE = 'out/package';

const { target } = JSON.parse(readFileSync('bundled/about.json', 'utf8'));
const output = `op-lint-${target}.vsix`;

// VS Code shows no picture of a README that is not on the web: there they would be broken. The walkthrough has its own.
rmSync(STAGE, { recursive: true, force: true });
for (const name of ['package.json', '.vscodeignore', 'CHANGELOG.md', 'LICENSE', 'dist', 'bundled', 'python', 'media']) {
  cpSync(name, `${STAGE}/${name}`, { recursive: true });
}
writeFileSync(`${STAGE}/README.md`, readFileSync('README.md', 'utf8').replaceAll(/^!\[.*\]\(.*\)\n\n/gm, ''));

const given = ['package', '--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository', '--out', resolve(output)];
if (target !== 'universal') given.push('--target', target);
const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('node_modules/@vscode/vsce/vsce'), ...given], {
  cwd: STAGE,
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
