import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cell, Row, State, TableEntry } from '../../src/protocol';
import { SIGNS, cellWords, coverage, isDefined, isShown, isTelling, placeWords, sign } from '../../src/view/words';

const cell = (state: State | null, kernel: string | null = null): Cell => ({ state, kernel, reason: null, kind: null, location: null });
const row = (op: string, cells: Record<string, Cell>): Row => ({
  op, namespace: op.split('::')[0] ?? '', name: op.split('::')[1] ?? '', overload: '', schema: `${op}(Tensor x) -> Tensor`, definitions: [], uses: 0, cells,
});
const ADD = row('my::add', { CPU: cell('kernel', 'add_cpu'), CUDA: cell('missing') });
const MUL = row('other::mul', { CPU: cell('composite', 'mul'), CUDA: cell('composite', 'mul') });

describe('the signs', () => {
  it('differ from each other, so that no colour is needed', () => {
    const glyphs = Object.values(SIGNS).map((each) => each.glyph);
    assert.equal(new Set(glyphs).size, glyphs.length);
    assert.match(sign(null).words, /not known/);
  });
});

describe('the filter', () => {
  const filter = { text: '', namespace: '', onlyMissing: false };
  it('looks at names, schemas and kernels, word by word', () => {
    assert.ok(isShown(ADD, filter));
    assert.ok(isShown(ADD, { ...filter, text: 'ADD_cpu tensor' }));
    assert.ok(!isShown(ADD, { ...filter, text: 'add mul' }));
  });
  it('takes one namespace, or what lacks something', () => {
    assert.ok(!isShown(MUL, { ...filter, namespace: 'my' }));
    assert.deepEqual([ADD, MUL].map((each) => isShown(each, { ...filter, onlyMissing: true })), [true, false]);
  });
});

describe('words', () => {
  it('say a cell to who cannot see it', () => {
    assert.equal(cellWords(ADD, 'CUDA', ADD.cells['CUDA']), 'my::add at CUDA: missing: a call raises');
    const location = { uri: 'file:///a/b%20c/k.cpp', range: { start: { line: 4, character: 0 }, end: { line: 4, character: 3 } } };
    assert.equal(cellWords(ADD, 'CPU', { ...cell('kernel', 'add_cpu'), location }), 'my::add at CPU: kernel, add_cpu (b c/k.cpp:5)');
    assert.equal(placeWords(location.uri, 0), 'b c/k.cpp:1');
  });
  it('know an operator that nothing defines', () => {
    const place = { uri: 'file:///a.cpp', range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } } };
    const unread = { ...ADD, schema: null, definitions: [place] };
    assert.deepEqual([ADD, unread, { ...ADD, schema: null }].map(isDefined), [true, true, false]);
  });
  it('count what a key serves', () => {
    assert.deepEqual([coverage([ADD, MUL], 'CPU'), coverage([ADD, MUL], 'CUDA'), coverage([ADD, MUL], 'Meta')], [2, 1, 0]);
  });
});

describe('what of the whole table is shown at first', () => {
  const entry = (key: string, state: State, kind = 'backend', reason = 'kernel'): TableEntry => ({
    key, state, kind, reason, kernel: null, path: null, line: null, source: null, location: null,
  });
  const visited = new Set(['HPU', 'AutogradCPU']);
  it('is what the call comes by, what the operator has, and the usual backends without a kernel', () => {
    assert.ok(isTelling(entry('XPU', 'kernel'), visited));
    assert.ok(isTelling(entry('CUDA', 'missing'), visited));
    assert.ok(isTelling(entry('HPU', 'missing'), visited));
    assert.ok(!isTelling(entry('XLA', 'missing'), visited));
    assert.ok(!isTelling(entry('ADInplaceOrView', 'fallthrough', 'functionality', 'backend fallback'), visited));
    assert.ok(isTelling(entry('AutogradCPU', 'fallback', 'autograd', 'backend fallback'), visited));
    assert.ok(isTelling({ ...entry('Conjugate', 'fallback', 'functionality', 'backend fallback'), source: 'workspace' }, visited));
  });
});
