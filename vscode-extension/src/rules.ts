/** The rules, as `op-lint rule` lists them: code, name, severity and one line about each. */
import type { RuleName } from './toml_features';

const LINE = /^([A-Z]+\d+)\s+(\S+)\s+(?:error|warning|hint)\b\s*(.*)$/;

export function listedRules(output: string): readonly RuleName[] {
  return output.split('\n').flatMap((line) => {
    const [, code, name, summary] = LINE.exec(line.trim()) ?? [];
    return code !== undefined && name !== undefined ? [{ code, name, summary: summary ?? '' }] : [];
  });
}
