import assert from 'node:assert/strict';
import * as os from 'node:os';
import * as path from 'node:path';
import { describe, it } from 'node:test';
import { type Answer, type Search, type World, candidates, identity, lacking, locate, resolve, warning } from '../../src/server/resolution';

const GOOD: Answer = { python: [3, 12, 1], executable: '', tag: 'cpython-312-x', source: 'bundled', version: '1', missing: [] };
const SEARCH: Search = { setting: '', chosen: undefined, folders: ['/project'], environment: { PATH: '/usr/bin:/bin' }, isTrusted: true };

/** A disk with these interpreters, and what each answers; what is not a known answer fails with these words. */
function world(answers: Record<string, Answer | string>, links: Record<string, string> = {}): World & { asked: string[] } {
  const asked: string[] = [];
  const files = Object.keys(answers);
  return {
    asked,
    isExecutable: (file) => files.includes(file),
    isFolder: (file) => files.some((each) => each.startsWith(`${file}/`)),
    real: (file) => links[file] ?? file,
    ask(file) {
      asked.push(file);
      const answer = answers[file];
      if (typeof answer === 'object') return Promise.resolve({ ...answer, executable: file });
      return Promise.reject(new Error(answer ?? 'not there'));
    },
  };
}

describe('the places to look', () => {
  it('come in the written order, and those that name nothing are left out', () => {
    const search = { ...SEARCH, setting: ' py ', chosen: '/c', environment: { VIRTUAL_ENV: '/v', CONDA_PREFIX: '/k' }, folders: ['/a', '/b'] };
    const named = candidates(search).map((each) => `${each.origin} ${each.named}`);
    assert.deepEqual(named, [
      'setting py', 'Python extension /c', '$VIRTUAL_ENV /v', '$CONDA_PREFIX /k', '.venv /a/.venv', '.venv /b/.venv', 'PATH python3', 'PATH python',
    ]);
    assert.deepEqual(candidates({ ...SEARCH, folders: [] }).map((each) => each.origin), ['PATH', 'PATH']);
  });
});

describe('what a text names', () => {
  const disk = world({ '/usr/bin/python3.11': GOOD, '/project/env/bin/python': GOOD, '/project/tools/py': GOOD, [path.join(os.homedir(), 'e/bin/python3')]: GOOD });
  const cases: Record<string, string | undefined> = {
    'python3.11': '/usr/bin/python3.11',
    '/project/env': '/project/env/bin/python',
    env: '/project/env/bin/python',
    './env': '/project/env/bin/python',
    'tools/py': '/project/tools/py',
    '${workspaceFolder}/tools/py': '/project/tools/py',
    '~/e': path.join(os.homedir(), 'e/bin/python3'),
    '/nowhere/python': undefined,
    'python3.99': undefined,
  };
  for (const [named, expected] of Object.entries(cases)) {
    it(named, () => { assert.equal(locate(named, SEARCH, disk), expected); });
  }
  it('a relative entry of PATH is not searched: it would be the workspace', () => {
    assert.equal(locate('py', { ...SEARCH, environment: { PATH: 'tools:' } }, disk), undefined);
  });
});

describe('the search', () => {
  it('takes the setting first', async () => {
    const disk = world({ '/my/python': GOOD, '/usr/bin/python3': GOOD });
    const found = await resolve({ ...SEARCH, setting: '/my/python' }, disk);
    assert.equal(found.runner?.path, '/my/python');
    assert.equal(found.runner.origin, 'setting');
    assert.equal(warning(found), undefined);
    assert.deepEqual(disk.asked, ['/my/python'], 'nothing else is run');
  });

  it('goes on where the setting is gone, and says so', async () => {
    const found = await resolve({ ...SEARCH, setting: '/gone/python' }, world({ '/usr/bin/python3': GOOD }));
    assert.equal(found.runner?.path, '/usr/bin/python3');
    assert.equal(warning(found), 'the setting op-lint.interpreter is `/gone/python`: does not exist');
  });

  it('passes over a Python that is too old, broken, or without libclang', async () => {
    const old: Answer = { ...GOOD, python: [3, 8, 10] };
    const bare: Answer = { ...GOOD, missing: [{ name: 'libclang', why: 'no module' }] };
    const found = await resolve(
      { ...SEARCH, setting: '/old', chosen: '/broken/python', environment: { VIRTUAL_ENV: '/bare', PATH: '/usr/bin' } },
      world({ '/old/bin/python': old, '/broken/python': 'cannot be run: no', '/bare/bin/python': bare, '/usr/bin/python3': GOOD }),
    );
    assert.deepEqual(found.verdicts.map((each) => each.words), [
      'is Python 3.8.10: the server needs 3.10 or newer', 'cannot be run: no', 'has no libclang (no module)', 'used',
    ]);
    assert.equal(found.runner?.path, '/usr/bin/python3');
  });

  it('names the first that only lacks libraries, for an installation', async () => {
    const bare: Answer = { ...GOOD, tag: 'cpython-313-y', missing: [{ name: 'libclang', why: 'no module' }] };
    const found = await resolve(SEARCH, world({ '/usr/bin/python3': bare, '/bin/python': bare }));
    assert.equal(found.runner, undefined);
    assert.deepEqual([lacking(found)?.path, lacking(found)?.lacks, lacking(found)?.tag], ['/usr/bin/python3', ['libclang'], 'cpython-313-y']);
  });

  it('asks no interpreter twice', async () => {
    const disk = world({ '/v/bin/python': 'cannot be run: no' });
    const found = await resolve({ ...SEARCH, setting: '/v', environment: { VIRTUAL_ENV: '/v', PATH: '' } }, disk);
    assert.deepEqual(disk.asked, ['/v/bin/python']);
    assert.equal(found.verdicts[1]?.words, 'is that of setting, see there');
  });
});

describe('a workspace that is not trusted', () => {
  it('has nothing run that it holds, links to it included, or names', async () => {
    const disk = world(
      { '/project/py': GOOD, '/project/.venv/bin/python': GOOD, '/out/link': GOOD, '/usr/bin/python3': GOOD },
      { '/out/link': '/project/evil' },
    );
    const found = await resolve(
      { ...SEARCH, isTrusted: false, setting: '/project/py', chosen: '/usr/bin/python3', environment: { VIRTUAL_ENV: '/out/link', PATH: '/usr/bin' } },
      disk,
    );
    assert.deepEqual(found.verdicts.map((each) => each.words), [
      'inside a workspace that is not trusted', 'chosen for a workspace that is not trusted', 'inside a workspace that is not trusted',
      'inside a workspace that is not trusted', 'used',
    ]);
    assert.deepEqual(disk.asked, ['/usr/bin/python3']);
  });
});

describe('whether to start anew', () => {
  it('depends on what runs, and on nothing else', async () => {
    const disk = world({ '/my/python': GOOD, '/usr/bin/python3': GOOD });
    const one = await resolve({ ...SEARCH, setting: '/usr/bin/python3' }, disk);
    const same = await resolve({ ...SEARCH, setting: '/gone' }, disk);
    const other = await resolve({ ...SEARCH, setting: '/my/python' }, disk);
    assert.equal(identity(one, 'bundled'), identity(same, 'bundled'));
    assert.notEqual(identity(one, 'bundled'), identity(other, 'bundled'));
    assert.notEqual(identity(one, 'bundled'), identity(one, 'environment'));
    assert.equal(identity({ verdicts: [] }, 'bundled'), '');
  });
});
