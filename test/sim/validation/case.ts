/**
 * A validation case: a value from theory and the measured value. This module also has the runs,
 * confidence intervals and formulas that several cases share.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import jstat from 'jstat';
import type { Measures } from '../../../dist/sim/measure/dictionary.js';
import { simulate } from '../../../dist/sim/run/simulate.js';
import { completeScenario } from '../../../dist/sim/scenario/complete.js';

/** The number of samples: `small` for tests, `full` for docs/validation.md. */
export type Size = 'small' | 'full';

/** A figure from theory and its measured value. */
export interface Row {
  what: string;
  theory: number;
  /** Set where theory is a lower bound, which the whole interval must reach. */
  atLeast?: true;
  measured: number;
  /** Interval of the measured value; null if theory is exact, so that both are equal. */
  interval: readonly [low: number, high: number] | null;
  /** The sample of the measured value, such as `2000 blocks`. */
  from: string;
}

export interface ValidationCase {
  name: string;
  /** The question, and the reason for the known answer. */
  about: string;
  /** The source of the answer. */
  source: string;
  rows(size: Size): Promise<Row[]>;
}

/** True if theory is inside the interval of the measured value, or below it if it is a bound. */
export function holds({ theory, measured, interval, atLeast }: Row): boolean {
  if (!interval) return theory === measured;
  const [low, high] = interval;
  if (atLeast) return theory <= low;
  return low <= theory && theory <= high;
}

/** Theory as tables show it. */
export const theoryText = ({ theory, atLeast }: Row): string =>
  `${atLeast ? 'at least ' : ''}${digits(theory)}`;

/** Five digits, and never an exponent. */
export const digits = (value: number): string => String(Number(value.toPrecision(5)));

/** Selects the count for the size. */
export const scaled = (size: Size, small: number, full: number): number =>
  size === 'full' ? full : small;

/**
 * Confidence level of each interval. With a hundred rows and correct code, the probability that
 * theory lies outside any interval is below one in ten.
 */
export const LEVEL = 0.999;

const { beta, studentt } = jstat.jStat;

/** Interval by Clopper and Pearson (1934), whose coverage is at least `LEVEL` for any `whole`. */
export function shareInterval(part: number, whole: number): [low: number, high: number] {
  const tail = (1 - LEVEL) / 2;
  const low = part === 0 ? 0 : beta.inv(tail, part, whole - part + 1);
  const high = part === whole ? 1 : beta.inv(1 - tail, part + 1, whole - part);
  return [low, high];
}

export function meanInterval(
  values: readonly number[],
  level = LEVEL,
): [low: number, high: number] {
  const n = values.length;
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
  const half = studentt.inv(1 - (1 - level) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return [mean - half, mean + half];
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** A figure that theory determines, without an interval. */
export const exactRow = (what: string, theory: number, measured: number, from: string): Row => ({
  ...{ what, theory, measured, interval: null, from },
});

/** A share of `whole` trials; `of` names them. */
export const shareRow = (
  what: string,
  theory: number,
  [part, whole]: readonly [part: number, whole: number],
  of: string,
): Row => ({
  ...{ what, theory, measured: part / whole, interval: shareInterval(part, whole) },
  from: `${whole} ${of}`,
});

/** The mean of a sample. */
export const meanRow = (
  what: string,
  theory: number,
  values: readonly number[],
  from: string,
  level = LEVEL,
): Row => ({
  ...{ what, theory, measured: meanOf(values), interval: meanInterval(values, level), from },
});

/** The chance of at least `least` successes in `n` trials of chance `p` each. */
export function binomialTail(n: number, p: number, least: number): number {
  let tail = 0;
  // Derives each term from the preceding one, from n successes down, so no factorial overflows.
  let term = 1;
  for (let one = 0; one < n; one += 1) term *= p;
  for (let k = n; k >= least; k -= 1) {
    tail += term;
    term *= (k / (n - k + 1)) * ((1 - p) / p);
  }
  return tail;
}

/** Mean of the k-th smallest of n draws, uniform on the whole numbers below `width`. */
export const orderStatisticMean = (k: number, n: number, width: number): number =>
  // Rounding a continuous draw down lowers its mean by one half.
  (width * k) / (n + 1) - 0.5;

/** Size of a `bft` quorum: more than two thirds. */
export const bftQuorum = (electors: number): number => Math.floor((2 * electors) / 3) + 1;

/** Switches off everything except votes on blocks. */
const quiet = {
  ...{ memes: { rate: 0 }, discussion: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } },
};

/** Parts of a scenario that all validations share; sections given replace these. */
const plain = {
  ...{ signatures: 'none', social: quiet, topology: { kind: 'ring', degree: 2 } },
  links: { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 } },
  measure: { every_ms: 3_600_000 },
} as const;

/** Approves every block. */
export const approving = {
  ...{ technical: 0, social: 0, meme: 0, random: 0, threshold: 0, abstains: 0 },
} as const;

/** Approves each block with the same probability: `threshold` of 101 steps reject. */
export const whim = (threshold: number) => ({
  ...{ technical: 0, social: 0, meme: 0, random: 100, threshold },
  ...{ abstains: 0, think_ms: 400 },
});

/** The chance with which `whim` approves: a whole number from 0 to 100 reaches the threshold. */
export const whimOf = (threshold: number): number => (101 - threshold) / 101;

/** A row of blocks.csv, times in milliseconds of the run. */
export interface BlockRow {
  status: string;
  proposed: number;
  closed: number;
  finality: number;
}

/** A row of votes.csv. */
interface VoteRow {
  block: number;
  group: string;
  /** Memes about the block that the voter had received when it decided. */
  memes: number;
}

/** The blocks of a run that have closed, in the order in which they were proposed. */
export async function blocksOf(raw: object, seed = '1'): Promise<BlockRow[]> {
  const rows = await tableOf(raw, seed, 'blocks.csv');
  return rows.flatMap(({ status = '', proposed_ms, closed_ms, finality_ms }) => {
    if (status === 'voting') return [];
    const times = { proposed: Number(proposed_ms), closed: Number(closed_ms) };
    return [{ status, ...times, finality: Number(finality_ms) }];
  });
}

/** The votes of a run whose scenario keeps them. */
export async function votesOf(raw: object, seed = '1'): Promise<VoteRow[]> {
  const rows = await tableOf(raw, seed, 'votes.csv');
  return rows.map(({ block, group = '', memes_heard }) => {
    return { block: Number(block), group, memes: Number(memes_heard) };
  });
}

/** The measures of a run with scripts in the same folder: `files` has their text by name. */
export async function measuresOf(
  raw: object,
  files: Readonly<Record<string, string>>,
  seed: string,
): Promise<Measures> {
  return inFolder(async (folder) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const scenario = completeScenario({ title: 'Validation', ...plain, ...raw }, folder);
    const options = { seed, folder, store: 'memory', verifier: 'off', audit: false } as const;
    return (await simulate(scenario, options)).measures;
  });
}

const tableOf = (raw: object, seed: string, table: string) =>
  inFolder(async (folder) => {
    const scenario = completeScenario({ title: 'Validation', ...plain, ...raw });
    await simulate(scenario, { seed, out: folder, verifier: 'off', audit: false });
    const text = await readFile(join(folder, table));
    return parse(text, { columns: true }) as Record<string, string>[];
  });

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-validate-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const finalizedOf = (blocks: readonly BlockRow[]): number =>
  blocks.filter(({ status }) => status === 'finalized').length;
