/** Compares another implementation's results with the suite, line by line. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { canonical } from '../../engine/protocol/canonical.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { splitLines } from '../../engine/replay/lines.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import { defineStoreErrors } from '../../engine/store/messages.js';
import {
  type CaseRow,
  type ExpectedEntry,
  type ExpectedLine,
  ResultLine,
  SuiteFile,
} from './format.js';

export const suiteError = defineStoreErrors({
  OTHER_NETWORK: {
    OUTPUT_NOT_EMPTY: 'folder not empty: {path}; use a new or empty folder',
  },
  UNREADABLE: {
    SUITE_UNREADABLE: 'cannot read {path}; pass a folder written by folkmoot conformance --out',
    SUITE_INVALID: 'invalid {where}: {reason}',
    UNKNOWN_CASE: 'unknown case in results line {line}: {name}',
  },
});

/** First difference between a result and its expected line. */
export interface Difference {
  case: string;
  line: number;
  /** JSON Pointer into the expected line. */
  where: string;
  /** JSON texts. */
  expected: string;
  found: string;
}

/** Result of comparing another implementation with the suite. */
export interface Comparison {
  match: boolean;
  /** Number of compared lines, and of the cases to which they belong. */
  lines: number;
  cases: number;
  difference: Difference | null;
}

/** Expected members of a result line. */
interface Expected {
  outcome?: ExpectedLine['outcome'];
  entries?: ExpectedLine['entries'];
  log_digest: string;
  digest: string;
}

/**
 * Compares another implementation's results with the suite, up to the first difference.
 *
 * @param suite folder written by {@link writeSuite}.
 * @param results NDJSON, one {@link ResultLine} per line.
 * @throws {StoreError} if the suite or the results cannot be read.
 */
export async function checkResults(
  suite: string,
  results: AsyncIterable<Uint8Array>,
  { partial = false }: { partial?: boolean } = {},
): Promise<Comparison> {
  const cases = readCases(suite);
  const seen = new Map<string, Set<number>>();
  const loaded = new Map<string, Expected[]>();
  let lines = 0;
  const end = (difference: Difference | null): Comparison => {
    return { match: difference === null, lines, cases: seen.size, difference };
  };
  let number = 0;
  for await (const text of splitLines(results)) {
    number += 1;
    if (/^[\t\r ]*$/.test(text)) continue;
    const result = parse(text, `results line ${number}`);
    const row = cases.get(result.case);
    if (!row) throw suiteError('UNKNOWN_CASE', { line: number, name: result.case });
    const known = loaded.get(row.name) ?? (await loadCase(suite, row));
    loaded.set(row.name, known);
    const difference = compareLine(result, known[result.line], partial);
    if (difference) return end(difference);
    lines += 1;
    const of = seen.get(row.name) ?? new Set();
    seen.set(row.name, of.add(result.line));
  }
  return end(partial ? null : missing(cases, seen));
}

const invalid = (where: string, reason: string, cause?: unknown) =>
  suiteError('SUITE_INVALID', { where, reason }, { cause });

const suiteProblem = validator('conformance_suite', SuiteFile);
const resultProblem = validator('conformance_result', ResultLine);

function readCases(suite: string): Map<string, CaseRow> {
  const path = join(suite, 'suite.json');
  let value: unknown;
  try {
    value = parseUnique(readBounded(path, fileBounds.result).toString());
  } catch (cause) {
    throw suiteError('SUITE_UNREADABLE', { path }, { cause });
  }
  const problem = suiteProblem(value);
  if (problem) throw invalid(path, `${problem.pointer} ${problem.message}`.trim());
  return new Map((value as SuiteFile).cases.map((row) => [row.name, row]));
}

function parse(text: string, where: string): ResultLine {
  let value: unknown;
  try {
    value = parseUnique(text);
  } catch (cause) {
    throw invalid(where, 'not JSON', cause);
  }
  const problem = resultProblem(value);
  if (problem) throw invalid(where, `${problem.pointer} ${problem.message}`.trim());
  return value as ResultLine;
}

async function loadCase(suite: string, { name, kind }: CaseRow): Promise<Expected[]> {
  const file = kind === 'log' ? `logs/${name}.ndjson` : `vectors/${name}.expected.ndjson`;
  const known: Expected[] = [];
  let digests = { log_digest: '', digest: '' };
  const bytes = createReadStream(join(suite, file));
  try {
    for await (const text of splitLines(bytes)) {
      const line = parseUnique(text) as ExpectedLine & ExpectedEntry;
      const { log_digest, digest } = kind === 'log' ? line : (line.entries.at(-1) ?? digests);
      digests = { log_digest, digest };
      const { outcome, entries } = line;
      known.push(
        kind === 'log' ? digests : { ...(outcome ? { outcome } : {}), entries, ...digests },
      );
    }
  } catch (cause) {
    throw invalid(join(suite, file), (cause as Error).message, cause);
  }
  return known;
}

function compareLine(
  result: ResultLine,
  expected: Expected | undefined,
  partial: boolean,
): Difference | null {
  const { case: name, line, ...given } = result;
  const at = { case: name, line };
  if (!expected) return { ...at, where: '', expected: 'no such line', found: `line ${line}` };
  if (!partial && expected.outcome && given.outcome === undefined) {
    return { ...at, where: '/outcome', expected: canonical(expected.outcome), found: 'nothing' };
  }
  const found = difference(expected, given, '');
  return found && { ...at, ...found };
}

type Place = Pick<Difference, 'where' | 'expected' | 'found'>;

/** Compares values. Members in `found` must equal `expected`. Arrays must have equal length. */
function difference(expected: unknown, found: unknown, where: string): Place | null {
  if (isExact(where) || !isObject(expected) || !isObject(found)) {
    const same = expected !== undefined && canonical(expected) === canonical(found);
    return same ? null : { where, expected: text(expected), found: text(found) };
  }
  if (Array.isArray(expected) && Array.isArray(found) && expected.length !== found.length) {
    const count = (list: unknown[]) => `${list.length} items`;
    return { where, expected: count(expected), found: count(found) };
  }
  for (const [name, member] of Object.entries(found)) {
    const inner = difference(
      (expected as Record<string, unknown>)[name],
      member,
      `${where}/${name}`,
    );
    if (inner) return inner;
  }
  return null;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** True for answers, details, events and records, which must match completely. */
const isExact = (where: string) =>
  /^\/outcome\/(data|details)$|^\/entries\/\d+\/(events|records)\/\d+$/.test(where);

const text = (value: unknown) => (value === undefined ? 'nothing' : canonical(value));

function missing(cases: Map<string, CaseRow>, seen: Map<string, Set<number>>): Difference | null {
  for (const { name, kind, lines } of cases.values()) {
    const of = seen.get(name) ?? new Set();
    for (let line = kind === 'log' ? lines - 1 : 1; line < lines; line += 1) {
      if (of.has(line)) continue;
      return { case: name, line, where: '', expected: 'a result', found: 'nothing' };
    }
  }
  return null;
}
