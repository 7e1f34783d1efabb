import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Schema, configurationTemplate, toml } from '../../src/template';
import { described, keyAt, offered } from '../../src/toml';

const SCHEMA = JSON.parse(readFileSync('../docs/op-lint.schema.json', 'utf8')) as Schema;

/** What is offered at `|` in a text. */
function at(text: string, isPyproject = false): string {
  const before = text.split('|')[0] ?? '';
  const lines = text.replace('|', '').split('\n');
  const line = before.split('\n').length - 1;
  const offer = offered(SCHEMA, lines, line, before.split('\n').at(-1)?.length ?? 0, isPyproject);
  if (offer?.kind === 'keys') return `keys${offer.names.includes('ignore') ? ' with ignore' : ''}${offer.names.includes('select') ? ' with select' : ''}`;
  return offer?.kind === 'values' ? offer.texts.join(' ') : (offer?.kind ?? 'nothing');
}

describe('what is offered in op-lint.toml', () => {
  const cases: [string, string, boolean?][] = [
    ['|', 'keys with ignore with select'],
    ['ignore = []\nse|', 'keys with select'],
    ['torch = |', 'true false'],
    ['torch = t|', 'true false'],
    ['select = ["|"]', 'rules'],
    ['select = ["OPL1", "|"]', 'rules'],
    ['select = [\n  "OPL1",\n  "|"\n]', 'rules'],
    ['select = []\n|', 'keys with ignore'],
    ['exclude = ["|"]', 'nothing'],
    ['[per-file-ignores]\n"tests/*" = ["|"]', 'rules'],
    ['[other]\n|', 'nothing'],
    ['[tool.ruff]\n|', 'nothing', true],
    ['|', 'nothing', true],
    ['[tool.op-lint]\n|', 'keys with ignore with select', true],
    ['[tool.op-lint]\nselect = ["|', 'rules', true],
    ['[tool.op-lint.per-file-ignores]\n"a" = ["|', 'rules', true],
    ['[tool.op-lint]\nselect = []\n[tool.ruff]\nselect = ["|"]', 'nothing', true],
  ];
  for (const [text, expected, isPyproject] of cases) {
    it(JSON.stringify(text), () => { assert.equal(at(text, isPyproject), expected); });
  }
});

describe('a hover on a setting', () => {
  it('says what it does, and its default', () => {
    assert.equal(keyAt(SCHEMA, ['torch = true'], 0, 2, false), 'torch');
    assert.equal(keyAt(SCHEMA, ['torch = true'], 0, 9, false), undefined);
    assert.equal(keyAt(SCHEMA, ['torch = true'], 0, 2, true), undefined);
    assert.equal(keyAt(SCHEMA, ['nonsense = true'], 0, 2, false), undefined);
    assert.match(described(SCHEMA, 'torch'), /hold the sources against a torch.*\n\nDefault: `true`/);
  });
});

describe('the template of op-lint.toml', () => {
  const text = configurationTemplate(SCHEMA);
  it('has every setting, as a comment', () => {
    for (const name of Object.keys(SCHEMA.properties)) assert.match(text, new RegExp(`^# ${name} = `, 'm'));
    assert.ok(text.split('\n').every((line) => line === '' || line.startsWith('#')));
  });
  it('writes values as TOML does', () => {
    assert.equal(toml(['a', 1, true]), '["a", 1, true]');
    assert.equal(toml({ 'a b': [] }), '{ "a b" = []}');
  });
});
