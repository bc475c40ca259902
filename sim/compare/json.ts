/** The first place where two JSON values part. */

/** Where two JSON values part. */
export interface JsonDifference {
  /** As `scenario.agents.0.count`; '' for the whole. */
  path: string;
  /** JSON texts, cut where they are long; `nothing` where only the other one is there. */
  a: string;
  b: string;
}

/** The first place where two JSON values part, or null. */
export function jsonDifference(a: unknown, b: unknown, path = ''): JsonDifference | null {
  if (Object.is(a, b)) return null;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    return { path, a: shown(a), b: shown(b) };
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = jsonDifference(a[key], b[key], path === '' ? key : `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

const LONGEST = 120;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 3)}...`;
}
