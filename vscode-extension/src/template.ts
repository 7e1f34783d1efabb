/** `op-lint.toml` as the user gets it: every setting with its default and what it does, as a comment. */

interface Property {
  readonly description?: string;
  readonly type?: string;
  readonly default?: unknown;
}

export interface Schema {
  readonly properties: Readonly<Record<string, Property>>;
}

/** The file's text. */
export function configurationTemplate(schema: Schema): string {
  const settings = Object.entries(schema.properties).map(([name, property]) => [
    ...wrapped(property.description ?? ''),
    `# ${name} = ${toml(property.default ?? (property.type === 'array' ? [] : ''))}`,
  ].join('\n'));
  return `# Settings of op-lint. What is commented out is the default.\n\n${settings.join('\n\n')}\n`;
}

/** A value as TOML writes it. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return `{${Object.entries(value).map(([key, each]) => ` ${JSON.stringify(key)} = ${toml(each)}`).join(',')}}`;
  return JSON.stringify(value);
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 100) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
