import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Crashes } from '../../src/crashes';
import { page } from '../../src/information';
import type { Information } from '../../src/protocol';
import { listedRules } from '../../src/rules';
import { shown, torchs } from '../../src/state';
import { Latest } from '../../src/table/latest';

const FOUND: Information = {
  opLint: '1', python: '3.12', project: '/project', configuration: null, files: { cpp: 3 }, operators: 7, unresolved: [], unread: [], targets: [],
  torch: '2.13.0+cpu', origin: 'probe', interpreter: '/my/python', candidates: [], problems: [], rulePacks: ['op-lint'], rules: 50, skipped: [],
  failures: [], processes: [4],
};
const RUNNING = { kind: 'running', isBusy: false, server: '1 on Python 3.12.1', information: [FOUND] } as const;

describe('the status item', () => {
  it('says which torch there is', () => {
    assert.equal(shown(RUNNING, true, undefined).text, '$(pass) op-lint · torch 2.13.0');
    assert.match(shown(RUNNING, true, undefined).tooltip, /held against torch 2\.13\.0\+cpu of `\/my\/python`/);
  });
  it('says that a torch is a snapshot', () => {
    assert.equal(torchs([{ ...FOUND, origin: 'snapshot' }]), 'torch 2.13.0 (snapshot)');
  });
  it('names every torch of several folders once', () => {
    assert.equal(torchs([FOUND, { ...FOUND, torch: '2.9.1' }, FOUND, { ...FOUND, torch: null }]), 'torch 2.13.0, torch 2.9.1');
  });
  it('turns while there is work', () => {
    assert.match(shown({ kind: 'starting' }, true, undefined).text, /~spin/);
    assert.match(shown({ ...RUNNING, isBusy: true }, true, undefined).text, /~spin/);
  });
  it('warns of a setting that could not be used', () => {
    const { severity, text, tooltip } = shown(RUNNING, true, 'the setting is wrong');
    assert.deepEqual([severity, text.startsWith('$(warning)')], ['warning', true]);
    assert.match(tooltip, /the setting is wrong/);
  });
  it('says what is switched off in a workspace that is not trusted', () => {
    assert.match(shown(RUNNING, false, undefined).tooltip, /Restricted: nothing that this workspace holds or names is run/);
  });
  it('offers the cure for what is missing', () => {
    const { severity, tooltip } = shown({ kind: 'failed', reason: 'python has no libclang', lacks: ['libclang'] }, true, undefined);
    assert.equal(severity, 'error');
    assert.match(tooltip, /python has no libclang/);
    assert.match(tooltip, /Click, and choose \*Install libclang\*/);
  });
});

describe('the page of what was found', () => {
  const facts = { extension: '1', editor: 'Code 1.99', isTrusted: false, command: [], failure: undefined, information: [FOUND] };
  it('shows every place of the search and every project', () => {
    const text = page({
      ...facts,
      resolution: { verdicts: [{ origin: 'setting', named: '~/a|b', words: 'does not exist' }] },
      information: [{ ...FOUND, problems: ['no torch there'], unresolved: [{ path: 'a.cpp', line: 3, reason: 'a name from outside' }] }],
    });
    assert.ok(text.includes('| setting | `~/a\\|b` | does not exist |'), text);
    assert.match(text, /restricted/);
    assert.match(text, /- no torch there/);
    assert.match(text, /- `a\.cpp:3` a name from outside/);
  });
  it('says what failed', () => {
    assert.match(page({ ...facts, resolution: { verdicts: [] }, information: [], failure: 'no Python' }), /does not run:\*\* no Python/);
  });
});

describe('a server that ends by itself', () => {
  it('is started again four times in three minutes, and once more when that is long ago', () => {
    const crashes = new Crashes();
    assert.deepEqual([0, 1, 2, 3, 4].map((second) => crashes.isWorthAnotherTry(second * 1000)), [true, true, true, true, false]);
    assert.equal(crashes.isWorthAnotherTry(400_000), true);
  });
});

describe('the latest wish', () => {
  it('is done once more after the work under way, however often it came', async () => {
    let count = 0;
    const waiting: (() => void)[] = [];
    const latest = new Latest(() => { count += 1; return new Promise((done) => { waiting.push(done); }); });
    latest.ask();
    latest.ask();
    latest.ask();
    assert.equal(count, 1);
    waiting.pop()?.();
    await new Promise((done) => setTimeout(done, 5));
    assert.equal(count, 2);
    waiting.pop()?.();
    await new Promise((done) => setTimeout(done, 5));
    assert.equal(count, 2);
  });
});

describe('the list of rules', () => {
  it('is read from what op-lint prints', () => {
    const output = 'OPL101  invalid-schema  error    A schema string.\nXY1 other  hint  With error in it.\n\nsomething else\n';
    assert.deepEqual(listedRules(output), [
      { code: 'OPL101', name: 'invalid-schema', summary: 'A schema string.' },
      { code: 'XY1', name: 'other', summary: 'With error in it.' },
    ]);
  });
});
