// Bundles the extension (Node) and the table's page (browser); with --tests the unit tests, with --ui those of the workbench.
import { build, context } from 'esbuild';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const has = (option) => process.argv.includes(`--${option}`);
const common = {
  bundle: true,
  minify: has('production'),
  sourcemap: has('production') ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
};
// A dynamic import becomes a require, so that a bundle finds the one beside it.
const node = { ...common, platform: 'node', target: 'node20', external: ['vscode'], supported: { 'dynamic-import': false } };
const jobs = [
  { ...node, entryPoints: ['src/extension.ts'], outdir: 'dist', format: 'cjs', external: ['vscode', './client'] },
  { ...node, entryPoints: ['src/client.ts'], outdir: 'dist', format: 'cjs' },
  {
    ...common,
    entryPoints: { view: 'src/view/main.ts' },
    outdir: 'dist',
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
  },
  { ...common, entryPoints: ['src/view/view.css'], outdir: 'dist' },
];
const tests = {
  ...node,
  entryPoints: readdirSync('tests/unit').filter((name) => name.endsWith('.test.ts')).map((name) => `tests/unit/${name}`),
  outdir: 'out/tests',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  packages: 'external',
};
const ui = { ...tests, entryPoints: ['tests/ui/run.ts'], outdir: 'tests/ui/out' };
const wanted = has('tests') ? [tests] : has('ui') ? [ui] : jobs;

for (const job of wanted) rmSync(job.outdir ?? 'dist', { recursive: true, force: true });
if (has('watch')) {
  for (const job of jobs) await (await context(job)).watch();
} else {
  const built = await Promise.all(wanted.map((job) => build({ ...job, metafile: true })));
  if (wanted === jobs) writeFileSync('dist/third-party.txt', notices(built));
}

/** The licences of the packages whose code is in the bundles. */
function notices(built) {
  const files = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = new Set(files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...packages].sort().map(notice).join('\n\n');
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file || !existsSync(`${folder}/${file}`)) throw new Error(`${name} comes without the text of its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}`;
}
