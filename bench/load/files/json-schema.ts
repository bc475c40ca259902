/** The schema of a result for others: JSON Schema for validators, and a dictionary to read. */
import { LoadResult } from '../result.js';

type Tree = Record<string, unknown>;

const whole = LoadResult as unknown as Tree;

export function loadResultJsonSchema(): Tree {
  const { $id: _, ...schema } = whole;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:load-result',
    ...schema,
  };
}

export interface Meaning {
  /** As in `operations[].response`. */
  path: string;
  meaning: string;
}

/** What every figure means, in the order of the file. What is there twice is explained once. */
export function meanings(): Meaning[] {
  const explained = new Set<unknown>();
  const visit = (path: string, schema: Tree): Meaning[] => {
    const inner = schema.anyOf ? (schema.anyOf as Tree[])[0]! : schema;
    const text = schema.description ?? inner.description;
    const own = path !== '' && text !== undefined ? [{ path, meaning: String(text) }] : [];
    if (inner.items) return [...own, ...visit(`${path}[]`, inner.items as Tree)];
    if (!inner.properties || explained.has(inner.properties)) return own;
    explained.add(inner.properties);
    const members = Object.entries(inner.properties as Record<string, Tree>);
    const prefix = path === '' ? '' : `${path}.`;
    return [...own, ...members.flatMap(([name, one]) => visit(`${prefix}${name}`, one))];
  };
  return visit('', whole);
}
