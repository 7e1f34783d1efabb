// Bundles the extension (Node) and the table's page (browser); with --tests the unit tests, with --ui those of the workbench.
import { build, context } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';

const has = (option) => process.argv.includes(`--${option}`);
const common = {
  bundle: true,
  minify: has('production'),
  sourcemap: has('production') ? false : 'linked',
  legalComments: 'external',
  logLevel: 'warning',
};
const node = { ...common, platform: 'node', target: 'node20', external: ['vscode'] };
const jobs = [
  { ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', format: 'cjs' },
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
  await Promise.all(wanted.map((job) => build(job)));
}
