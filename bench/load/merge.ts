/**
 * Merges the parts of a run on several generators into one result. Counts add up, histograms merge
 * without loss, and the generator that proposed a transaction counts its finality. The result is
 * INVALID if a part is missing, incomplete or bound by its generator, or if the clocks differ too
 * much.
 */
import { scheduledOperations } from './figures.js';
import { loadResultError, type Note, note } from './messages.js';
import { arrivalsPerS } from './options.js';
import { decodeHistogram, newHistogram, percentiles } from './percentiles.js';
import type { LoadResult, Operation, Percentiles, Second } from './result.js';
import { byCause } from './schedule.js';
import { attribute, findWorst, isFailing, judgeRun, lagShares } from './verdict.js';

/** A part of a run. The result is null if its generator died before it wrote one. */
export interface LoadPart {
  folder: string;
  result: LoadResult | null;
}

interface MergeOptions {
  /** Largest difference between the clocks of two generators, in milliseconds. */
  clockBoundMs: number;
}

type ShardResult = LoadResult & { shard: NonNullable<LoadResult['shard']> };

/** @throws {StoreError} `LOAD_RESULT_INVALID` if the results are not parts of one run. */
export function mergeLoads(parts: readonly LoadPart[], { clockBoundMs }: MergeOptions): LoadResult {
  const shards = parts.flatMap(({ folder, result }) =>
    result === null ? [] : [asShard(folder, result)],
  );
  shards.sort((a, b) => a.shard.number - b.shard.number);
  assertOneRun(parts, shards);
  const merged = mergeFigures(shards);
  const problems = [...missingParts(parts, shards), ...shards.flatMap(problemsOf)];
  const clocks = clockProblems(shards, clockBoundMs);
  const { verdict, reasons } = judge(merged, shards);
  const invalid = [...problems, ...clocks];
  const reasonsOf = ({ reasons, shard }: ShardResult) =>
    reasons.map((reason) => note('GENERATOR_NOTE', { number: shard.number, reason }));
  // The problem of a part already contains its reasons.
  const notes = shards.filter((one) => problemsOf(one).length === 0).flatMap(reasonsOf);
  return {
    ...merged,
    verdict: invalid.length > 0 ? 'INVALID' : verdict,
    reasons: [...invalid, ...reasons, ...notes].map(({ text }) => text),
  };
}

function asShard(folder: string, result: LoadResult): ShardResult {
  if (result.shard) return result as ShardResult;
  const reason = 'it is not a part of a run; write it with folkmoot load --shard';
  throw loadResultError('LOAD_RESULT_INVALID', { path: folder, reason });
}

const commonFacts = ({ shard, server, seed, asked }: ShardResult): Record<string, unknown> => {
  // The rate of each part is the same share of the whole rate.
  const { count, start_at } = shard;
  return { count, start_at, seed, url: server.epoch ?? server.url, ...asked };
};

function assertOneRun(parts: readonly LoadPart[], shards: readonly ShardResult[]): void {
  const [first] = shards;
  const refuse = (path: string, reason: string) =>
    loadResultError('LOAD_RESULT_INVALID', { path, reason });
  if (!first) throw refuse(parts[0]?.folder ?? '', 'no generator has a result');
  const folderOf = (shard: ShardResult) => parts.find(({ result }) => result === shard)!.folder;
  const facts = commonFacts(first);
  const seen = new Map<number, string>();
  for (const shard of shards) {
    const folder = folderOf(shard);
    const other = Object.entries(commonFacts(shard)).find(([name, value]) => value !== facts[name]);
    if (other) {
      const [name, value] = other;
      throw refuse(folder, `${name} is ${value}, but ${facts[name]} in ${folderOf(first)}`);
    }
    const { number } = shard.shard;
    const twin = seen.get(number);
    if (twin !== undefined) throw refuse(folder, `part ${number} is also in ${twin}`);
    seen.set(number, folder);
  }
}

function missingParts(parts: readonly LoadPart[], shards: readonly ShardResult[]): Note[] {
  const { count } = shards[0]!.shard;
  const known = new Set(shards.map(({ shard }) => shard.number));
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => !known.has(number),
  );
  const empty = parts.filter(({ result }) => result === null).map(({ folder }) => folder);
  return missing.map((number, index) => {
    const folder = missing.length === empty.length ? ` (${empty[index]})` : '';
    return note('GENERATOR_DIED', { number: `${number}${folder}` });
  });
}

function problemsOf({ shard, verdict, ended, reasons }: ShardResult): Note[] {
  const { number } = shard;
  const reason = reasons.join('; ') || verdict;
  if (ended !== 'complete') return [note('GENERATOR_ENDED', { number, reason })];
  return verdict === 'CLIENT_BOUND' ? [note('GENERATOR_BOUND', { number, reason })] : [];
}

const rounded = (value: number) => Math.round(value * 10) / 10;

/** The server's clock is the reference: each generator has measured its offset from it. */
function clockProblems(shards: readonly ShardResult[], bound: number): Note[] {
  const unknown = shards.filter(({ shard }) => shard.clock_offset_ms === null);
  const moved = shards.filter(({ shard }) => Math.abs(shard.clock_moved_ms ?? 0) > bound);
  const notes = [
    ...unknown.map(({ shard: { number } }) => note('CLOCK_UNKNOWN', { number })),
    ...moved.map(({ shard: { number, clock_moved_ms } }) =>
      note('CLOCK_MOVED', { number, moved: rounded(clock_moved_ms!), bound }),
    ),
  ];
  if (unknown.length > 0) return notes;
  const sorted = [...shards].sort((a, b) => a.shard.clock_offset_ms! - b.shard.clock_offset_ms!);
  const [first, second] = [sorted[0]!.shard, sorted.at(-1)!.shard];
  const spread = second.clock_offset_ms! - first.clock_offset_ms!;
  const uncertainty = first.clock_uncertainty_ms! + second.clock_uncertainty_ms!;
  // An uncertain reading proves no difference, but a difference within the bound must be certain.
  if (spread + uncertainty <= bound) return notes;
  const values = { spread: rounded(spread), uncertainty: rounded(uncertainty), bound };
  const numbers = { first: first.number, second: second.number };
  return [...notes, note('CLOCKS_DIFFER', { ...values, ...numbers })];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Returns the largest of the values that are known; null if none is. */
function largest(all: readonly (number | null | undefined)[]): number | null {
  const known = all.filter((one) => one !== null && one !== undefined);
  return known.length === 0 ? null : Math.max(...known);
}

type Rules<T> = { [K in keyof T]?: (all: T[K][]) => T[K] };

const isTimes = (value: unknown): value is Percentiles =>
  typeof value === 'object' && value !== null && 'histogram' in value;

/** Adds up numbers, merges histograms, and takes other values from the first row, but for rules. */
function combine<T extends object>(rows: readonly T[], rules: Rules<T> = {}): T {
  const combined = Object.keys(rows[0]!).map((name) => {
    const all = rows.map((row) => row[name as keyof T]);
    const rule = rules[name as keyof T];
    if (rule) return [name, rule(all)];
    if (typeof all[0] === 'number') return [name, sum(all as number[])];
    return [name, isTimes(all[0]) ? mergePercentiles(all as Percentiles[]) : all[0]];
  });
  return Object.fromEntries(combined) as T;
}

/** Combines the rows that have the same key, in the order of their first occurrence. */
function combineBy<T extends object>(
  rows: readonly T[],
  keyOf: (row: T) => string | number,
  rules: Rules<T> = {},
): T[] {
  const groups = new Map<string | number, T[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups.values()].map((group) => combine(group, rules));
}

const first = <T>(all: readonly T[]): T => all[0]!;

/** Percentiles of a second cannot be merged, so the largest one is used as an upper bound. */
const ofSecond: Rules<Second> = {
  ...{ second: first, response_p50: largest, response_p95: largest, response_p99: largest },
  lag_max: largest,
};

const ofNode: Rules<NonNullable<LoadResult['nodes']>[number]> = {
  down_ms: (times) => Math.max(...times),
};

const mergeRefused = (all: Operation['refused'][]): Operation['refused'] =>
  combineBy(all.flat(), ({ status, code, reason }) => JSON.stringify([status, code, reason]), {
    status: first,
  }).sort((a, b) => b.count - a.count || a.status - b.status);

function mergeFigures(shards: readonly ShardResult[]): LoadResult {
  const { shard: _, ...common } = shards[0]!;
  const measuredS = Math.max(...shards.map(({ measured_s }) => measured_s));
  const perS = (count: number) => (measuredS > 0 ? count / measuredS : 0);
  const all = <K extends keyof LoadResult>(name: K): NonNullable<LoadResult[K]>[] =>
    shards.map((shard) => shard[name] as NonNullable<LoadResult[K]>);
  const operations = combineBy(all('operations').flat(), ({ operation }) => operation, {
    refused: mergeRefused,
  });
  const scheduled = scheduledOperations({ ...common, operations });
  const generator = combine(all('generator'), {
    utilization: (shares) => Math.max(...shares),
    prepared_ahead: (shares) => Math.min(...shares),
  });
  const held = heldBy(shards);
  const rate = sum(shards.map(({ asked }) => asked.rate ?? 0));
  const targetPerS = arrivalsPerS({ ...common.asked, rate });
  const { intended, accepted } = combine(all('arrivals'));
  const accepted_per_s = perS(accepted);
  const of_target = targetPerS ? accepted_per_s / targetPerS : null;
  const finality = mergePercentiles(all('finality'));
  const delivery = combine(all('delivery'));
  const seconds = combineBy(all('seconds').flat(), ({ second }) => second, ofSecond);
  return {
    ...common,
    r: null,
    machine: [...new Set(shards.map(({ machine }) => machine))].join('; '),
    asked: { ...common.asked, rate },
    ended: shards.every(({ ended }) => ended === 'complete') ? 'complete' : 'failed',
    measured_s: measuredS,
    arrivals: { intended, accepted, accepted_per_s, of_target, halves: [], held, limit: null },
    transactions: mergeTransactions(shards, finality, perS),
    finality,
    delivery: { ...delivery, deliveries_per_s: perS(delivery.delivered) },
    operations,
    generator: {
      ...generator,
      of_response: lagShares(generator.lag, scheduled),
      attributed: attribute(generator.lag, scheduled, held).attributed,
    },
    ...(common.scenarios
      ? {
          scenarios: combineBy(all('scenarios').flat(), ({ name }) => name, {
            verdict: (verdicts) => findWorst(verdicts.map((verdict) => ({ verdict }))),
          }).map((one) => ({ ...one, accepted_per_s: perS(one.accepted) })),
        }
      : {}),
    seconds: seconds.sort((a, b) => a.second - b.second),
    ...(common.nodes ? { nodes: combineBy(all('nodes').flat(), ({ url }) => url, ofNode) } : {}),
    saturation: null,
    tiers: [],
    shards: shards.map(describePart),
  };
}

function mergeTransactions(
  shards: readonly ShardResult[],
  finality: Percentiles,
  perS: (count: number) => number,
): LoadResult['transactions'] {
  const counts = combine(shards.map(({ transactions }) => transactions));
  if (finality.count !== counts.finalized) {
    const reason = `${finality.count} samples of ${counts.finalized} finalized transactions`;
    throw loadResultError('LOAD_RESULT_INVALID', { path: 'finality', reason });
  }
  return { ...counts, tps: perS(finality.count) };
}

/** @throws {StoreError} if a histogram is damaged, or has not as many samples as its count. */
export function mergePercentiles(all: readonly Percentiles[]): Percentiles {
  const merged = newHistogram();
  for (const { histogram, count } of all) {
    const decoded = histogram === null ? null : decodeHistogram(histogram);
    if ((decoded?.totalCount ?? 0) !== count) {
      const reason = `a histogram has ${decoded?.totalCount ?? 0} of ${count} samples`;
      throw loadResultError('LOAD_RESULT_INVALID', { path: 'histogram', reason });
    }
    if (decoded) merged.add(decoded);
  }
  const independent = all.flatMap((one) => one.independent ?? []);
  return percentiles(merged, independent.length > 0 ? sum(independent) : undefined);
}

function describePart(part: ShardResult): NonNullable<LoadResult['shards']>[number] {
  const { shard, verdict, ended, arrivals, transactions, generator } = part;
  return {
    ...{ ...shard, verdict, ended, accepted: arrivals.accepted },
    sent: sum(scheduledOperations(part).map(({ sent }) => sent)),
    ...{ finalized: transactions.finalized, lag_p99: generator.lag.p99 },
  };
}

/** Returns the longest waits of any generator, as shares of the measured time. */
const heldBy = (shards: readonly ShardResult[]) =>
  byCause((cause) => Math.max(...shards.map(({ arrivals }) => arrivals.held?.[cause] ?? 0)));

function judge(
  merged: LoadResult,
  shards: readonly ShardResult[],
): { verdict: LoadResult['verdict']; reasons: Note[] } {
  const { arrivals, generator, operations, transactions, delivery, measured_s: measuredS } = merged;
  const scheduled = scheduledOperations(merged);
  const sent = sum(scheduled.map((one) => one.sent));
  const responses = mergePercentiles(scheduled.map(({ response }) => response));
  const held = heldBy(shards);
  const found = judgeRun({
    ended: merged.ended,
    targetPerS: arrivalsPerS(merged.asked),
    sentPerS: measuredS > 0 ? sent / measuredS : 0,
    acceptedPerS: arrivals.accepted_per_s,
    ...{ lagP90: generator.lag.p90, lagP99: generator.lag.p99, responseP99: responses.p99 },
    attribution: attribute(generator.lag, scheduled, held),
    utilization: generator.utilization,
    isFailing: operations.some(isFailing),
    connections: { count: sum(shards.map(({ asked }) => asked.connections)), serviceP50: 0 },
    ...{ held, limit: null, transactions, delivery, halves: null },
  });
  const unstable = shards.some(({ verdict }) => verdict === 'UNSTABLE');
  return found.verdict === 'VALID' && unstable ? { ...found, verdict: 'UNSTABLE' } : found;
}
