// Runs the UI tests where there is no network but this machine's own loopback: whoever tries to go out, fails.
import { spawn, spawnSync } from 'node:child_process';

const tests = [process.execPath, 'tests/ui/out/run.mjs', ...process.argv.slice(2)];
const canIsolate = spawnSync('unshare', ['--net', 'true']).status === 0;
if (!canIsolate) {
  console.log('this machine does not let us make a network of our own (unshare --net): that no network is used is NOT tested');
}
const [command, ...given] = canIsolate
  ? ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...tests]
  : tests;
const child = spawn(command, given, { stdio: 'inherit', env: { ...process.env, OP_LINT_IS_ISOLATED: canIsolate ? '1' : '' } });
child.on('exit', (code, signal) => { process.exitCode = signal ? 1 : (code ?? 1); });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
