/** Compares two saved runs: the first differing entry, and the blocks and measures that differ. */
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { digestPattern } from '../../engine/protocol/patterns.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { outputError, parseNumber, readJson, tableRows } from '../../report/folder.js';
import type { SimResult } from '../run/result.js';
import { findDifference, type RunDifference, type Side } from './logs.js';

/** Block outcomes in two runs. Blocks are paired by number. */
export interface BlockDifference {
  number: number;
  /** Null if the run contains no such block. */
  a: BlockOutcome | null;
  b: BlockOutcome | null;
}

/** Block outcome. */
export interface BlockOutcome {
  hash: string;
  status: string;
  votes: number;
  /** Weights of approving and rejecting votes. */
  approve: number;
  reject: number;
}

/** Measure that differs between the runs. */
export interface MeasureDifference {
  measure: string;
  a: number | null;
  b: number | null;
  /** b - a; null if a value is missing. */
  difference: number | null;
}

/** Comparison of two saved runs. */
export interface KeptComparison {
  same: boolean;
  /** Log digests of both runs. */
  log_digests: [a: string, b: string];
  /** First difference between scenarios and seeds; null if they are identical. */
  scenario: { path: string; a: string; b: string } | null;
  /** First difference between the logs; null if they are identical. */
  first: RunDifference | null;
  blocks: BlockDifference[];
  measures: MeasureDifference[];
}

/**
 * Compares two runs saved by `sim --out` or `fork`. `first` calls the runs `a` and `b`.
 *
 * @throws {StoreError} if a folder contains no finished run.
 */
export async function compareKept(a: string, b: string): Promise<KeptComparison> {
  const [one, other] = [readResult(a), readResult(b)];
  const first = await findDifference(sideOf('a', a), sideOf('b', b));
  // The sweep section does not affect an individual run.
  const described = ({ scenario: { sweep: _, ...scenario }, seed }: SimResult) => ({
    ...scenario,
    seed,
  });
  const found = jsonDifference(described(one), described(other));
  const blocks = await blockDifferences(a, b);
  const measures = measureDifferences(one, other);
  const log_digests: [string, string] = [one.log_digest, other.log_digest];
  const same = first === null && blocks.length === 0 && measures.length === 0;
  return { same, log_digests, scenario: found, first, blocks, measures };
}

const sideOf = (name: string, folder: string): Side => ({ name, folder });

function measureDifferences(a: SimResult, b: SimResult): MeasureDifference[] {
  const [one, other] = [valuesOf(a), valuesOf(b)];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((measure) => {
    const [left, right] = [one[measure] ?? null, other[measure] ?? null];
    if (left === right) return [];
    const difference = left === null || right === null ? null : right - left;
    return [{ measure, a: left, b: right, difference }];
  });
}

const valuesOf = ({ measures, reported }: SimResult): Record<string, number | null> => ({
  ...measures,
  ...Object.fromEntries(Object.entries(reported.run).map(([name, of]) => [`reported.${name}`, of])),
});

/** Finds blocks with different outcomes, and blocks in only one run. */
async function blockDifferences(a: string, b: string): Promise<BlockDifference[]> {
  const [one, other] = [await outcomesOf(a), await outcomesOf(b)];
  const differences: BlockDifference[] = [];
  for (let number = 0; number < Math.max(one.length, other.length); number += 1) {
    const [left = null, right = null] = [one[number], other[number]];
    if (left && right && jsonDifference(left, right) === null) continue;
    differences.push({ number, a: left, b: right });
  }
  return differences;
}

async function outcomesOf(folder: string): Promise<BlockOutcome[]> {
  const outcomes: BlockOutcome[] = [];
  for await (const row of tableRows(folder, 'blocks.csv')) {
    outcomes.push({
      hash: row.block_hash!,
      status: row.status!,
      votes: parseNumber(row.votes) ?? 0,
      approve: parseNumber(row.approve) ?? 0,
      reject: parseNumber(row.reject) ?? 0,
    });
  }
  return outcomes;
}

const hashes = Type.Record(Type.String(), Type.String({ pattern: digestPattern }));
const numbers = Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]));
const whole = Type.Integer({ minimum: 0 });

/** Required members. Additional members are allowed. */
const KeptSummary = Type.Object({
  seed: Type.String(),
  scenario: Type.Object({ measure: Type.Object({}) }),
  modules: hashes,
  files: hashes,
  url: Type.Optional(Type.String()),
  measures: numbers,
  reported: Type.Object({ run: numbers }),
  entries: whole,
  virtual_ms: whole,
  log_digest: Type.String(),
});
const checkSummary = validator('run_summary', KeptSummary);

/** @throws {StoreError} if the folder contains no finished run, or if `summary.json` is invalid. */
export function readResult(folder: string): SimResult {
  const result = readJson<SimResult>(folder, 'summary.json');
  const problem = checkSummary(result);
  if (!problem) return result;
  const reason = `${problem.pointer} ${problem.message}`.trim();
  throw outputError('SUMMARY_INVALID', { path: folder, reason });
}
