/**
 * The UI tests: a .vsix in a fresh profile of a real VS Code, used as a user uses it.
 *
 *     npm run test:ui [-- PART_OF_A_SCENARIO'S_NAME]
 */
import * as fs from 'node:fs';
import { removeScratch } from './projects';
import { example } from './scenario_example';
import { bare, broken } from './scenario_interpreters';
import { neighbours } from './scenario_neighbours';
import { untrusted } from './scenario_trust';
import { runScenarios } from './steps';

const vsix = fs.readdirSync('.').filter((name) => /^op-lint-.*\.vsix$/.test(name));
const [archive] = vsix;
if (vsix.length !== 1 || archive === undefined) {
  console.error(`one .vsix is to be tested, not ${vsix.length}: run \`npm run package\` first`);
  process.exit(2);
}
fs.rmSync('test-results', { recursive: true, force: true });
const scenarios = [example, untrusted, broken, bare, neighbours];
const start = Date.now();
const { passed, failed, skipped } = await runScenarios(scenarios.map((scenario) => scenario(archive)), process.argv[2] ?? '');
removeScratch();
console.log(`\n${passed} steps passed, ${failed} failed, ${skipped} not reached, ${((Date.now() - start) / 1000).toFixed(0)} s`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
