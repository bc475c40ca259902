/**
 * Merges the parts of a run on several generators into one result with one verdict. Counts add up,
 * and histograms merge without loss, because all have the same resolution. Transactions are counted
 * once, because each was proposed by one generator, which saw its finality.
 *
 * The merged run is INVALID if a part is missing or did not complete, if a generator was the
 * bottleneck, or if the clocks differ by more than the bound: the parts then were not one load.
 */
import { scheduledOperations } from './figures.js';
import { decodeHistogram } from './histograms.js';
import { loadResultError, type Note, note } from './messages.js';
import { arrivalsPerS } from './options.js';
import { newHistogram, percentiles } from './recorder.js';
import type { LoadResult, Operation, Percentiles, Second } from './result.js';
import { attribute, findWorst, judgeRun, lagShares } from './verdict.js';

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

/** Facts that the parts of one run have in common. */
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

/** Lists the generators that have no result. */
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

/** Adds up the named members. */
const totals = <K extends string>(rows: readonly Record<K, number>[], ...names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, sum(rows.map((row) => row[name]))])) as Record<
    K,
    number
  >;

/** Returns the largest value of each named member; null where no row has one. */
const largest = <K extends string>(
  rows: readonly { [name in K]?: number | null }[],
  ...names: readonly K[]
) =>
  Object.fromEntries(
    names.map((name) => {
      const values = rows.flatMap((row) => row[name] ?? []);
      return [name, values.length === 0 ? null : Math.max(...values)];
    }),
  ) as Record<K, number | null>;

function mergeFigures(shards: readonly ShardResult[]): LoadResult {
  const first = shards[0]!;
  const measuredS = Math.max(...shards.map(({ measured_s }) => measured_s));
  const perS = (count: number) => (measuredS > 0 ? count / measuredS : 0);
  const total = (of: (shard: ShardResult) => number) => sum(shards.map(of));
  const merge = (of: (shard: ShardResult) => Percentiles) => mergePercentiles(shards.map(of));
  const { shard: _, ...common } = first;
  const operations = mergeOperations(shards.flatMap((shard) => shard.operations));
  const scheduled = scheduledOperations({ ...common, operations });
  const lag = merge(({ generator }) => generator.lag);
  const finality = merge((shard) => shard.finality);
  const accepted = total(({ arrivals }) => arrivals.accepted);
  const rate = total(({ asked }) => asked.rate ?? 0);
  const targetPerS = arrivalsPerS({ ...first.asked, rate });
  return {
    ...common,
    r: null,
    machine: [...new Set(shards.map(({ machine }) => machine))].join('; '),
    asked: { ...first.asked, rate },
    ended: shards.every(({ ended }) => ended === 'complete') ? 'complete' : 'failed',
    measured_s: measuredS,
    arrivals: {
      intended: total(({ arrivals }) => arrivals.intended),
      accepted,
      accepted_per_s: perS(accepted),
      of_target: targetPerS ? perS(accepted) / targetPerS : null,
      halves: [],
      held: heldBy(shards),
      limit: null,
    },
    transactions: mergeTransactions(shards, finality, perS),
    finality,
    delivery: mergeDelivery(shards, perS),
    operations,
    generator: {
      lag,
      of_response: lagShares(lag, scheduled),
      attributed: attribute(lag, scheduled, heldBy(shards)).attributed,
      utilization: Math.max(...shards.map(({ generator }) => generator.utilization)),
      prepared_ahead: Math.min(...shards.map(({ generator }) => generator.prepared_ahead)),
      keys: total(({ generator }) => generator.keys),
      messages: total(({ generator }) => generator.messages),
    },
    ...(first.scenarios ? { scenarios: mergeScenarios(shards, perS) } : {}),
    seconds: mergeSeconds(shards),
    ...(first.nodes ? { nodes: mergeNodes(shards.flatMap(({ nodes = [] }) => nodes)) } : {}),
    saturation: null,
    tiers: [],
    shards: shards.map(describePart),
  };
}

/** Counts finalized transactions by their samples. */
function mergeTransactions(
  shards: readonly ShardResult[],
  finality: Percentiles,
  perS: (count: number) => number,
): LoadResult['transactions'] {
  const names = ['proposed', 'accepted', 'finalized', 'timed_out', 'unfinished'] as const;
  const counts = totals(
    shards.map(({ transactions }) => transactions),
    ...names,
  );
  if (finality.count !== counts.finalized) {
    const reason = `${finality.count} samples of ${counts.finalized} finalized transactions`;
    throw loadResultError('LOAD_RESULT_INVALID', { path: 'finality', reason });
  }
  return { ...counts, tps: perS(finality.count) };
}

function mergeDelivery(
  shards: readonly ShardResult[],
  perS: (count: number) => number,
): LoadResult['delivery'] {
  const names = ['subscribers', 'expected', 'delivered', 'holes', 'disconnects'] as const;
  const counts = totals(
    shards.map(({ delivery }) => delivery),
    ...names,
  );
  return {
    ...counts,
    deliveries_per_s: perS(counts.delivered),
    latency: mergePercentiles(shards.map(({ delivery }) => delivery.latency)),
  };
}

function mergeOperations(all: readonly Operation[]): Operation[] {
  const names = [...new Set(all.map(({ operation }) => operation))];
  return names.map((operation) => {
    const same = all.filter((one) => one.operation === operation);
    return {
      operation,
      ...totals(same, 'sent', 'accepted', 'lies', 'timed_out', 'broken', 'unfinished'),
      refused: mergeRefused(same.flatMap(({ refused }) => refused)),
      response: mergePercentiles(same.map(({ response }) => response)),
      service: mergePercentiles(same.map(({ service }) => service)),
    };
  });
}

/** Adds up the parts of each scenario. */
function mergeScenarios(
  shards: readonly ShardResult[],
  perS: (count: number) => number,
): NonNullable<LoadResult['scenarios']> {
  const all = shards.flatMap(({ scenarios = [] }) => scenarios);
  return shards[0]!.scenarios!.map((first) => {
    const same = all.filter(({ name }) => name === first.name);
    const counts = totals(same, 'intended', 'sent', 'accepted', 'dropped');
    return {
      ...{ ...first, ...counts, accepted_per_s: perS(counts.accepted) },
      response: mergePercentiles(same.map(({ response }) => response)),
      lag: mergePercentiles(same.map(({ lag }) => lag)),
      verdict: findWorst(same),
    };
  });
}

function mergeNodes(all: NonNullable<LoadResult['nodes']>): NonNullable<LoadResult['nodes']> {
  return [...new Set(all.map(({ url }) => url))].map((url) => {
    const same = all.filter((one) => one.url === url);
    const down_ms = Math.max(...same.map((one) => one.down_ms));
    return { url, ...totals(same, 'sent', 'accepted', 'failed'), down_ms };
  });
}

function mergeRefused(all: Operation['refused']): Operation['refused'] {
  const byKind = new Map<string, Operation['refused'][number]>();
  for (const one of all) {
    const key = JSON.stringify([one.status, one.code, one.reason]);
    const known = byKind.get(key);
    byKind.set(key, { ...one, count: one.count + (known?.count ?? 0) });
  }
  return [...byKind.values()].sort((a, b) => b.count - a.count || a.status - b.status);
}

/**
 * @throws {StoreError} if a histogram is damaged, or its number of samples differs from its count.
 */
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

/**
 * Merges the rows of each second. Percentiles of a second cannot be merged, so the largest value of
 * the parts is used as an upper bound.
 */
function mergeSeconds(shards: readonly ShardResult[]): Second[] {
  const length = Math.max(...shards.map(({ seconds }) => seconds.length));
  return Array.from({ length }, (_, second): Second => {
    const rows = shards.flatMap(({ seconds }) => seconds[second] ?? []);
    return {
      second,
      ...totals(rows, 'intended', 'sent', 'accepted', 'failed', 'finalized_transactions'),
      ...largest(rows, 'response_p50', 'response_p95', 'response_p99', 'lag_max'),
    };
  });
}

function describePart(part: ShardResult): NonNullable<LoadResult['shards']>[number] {
  const { shard, verdict, ended, arrivals, transactions, generator } = part;
  return {
    ...shard,
    verdict,
    ended,
    sent: sum(scheduledOperations(part).map(({ sent }) => sent)),
    accepted: arrivals.accepted,
    finalized: transactions.finalized,
    lag_p99: generator.lag.p99,
  };
}

/** Returns the longest waits of any generator, as shares of the measured time. */
function heldBy(shards: readonly ShardResult[]): NonNullable<LoadResult['arrivals']['held']> {
  const none = { connections: 0, answers: 0, signatures: 0 };
  const held = shards.map(({ arrivals }) => arrivals.held ?? none);
  const { connections, answers, signatures } = largest(
    held,
    'connections',
    'answers',
    'signatures',
  );
  return { connections: connections!, answers: answers!, signatures: signatures! };
}

/** Judges the whole load by the rules for one generator. */
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
    lagP90: generator.lag.p90,
    lagP99: generator.lag.p99,
    responseP99: responses.p99,
    attribution: attribute(generator.lag, scheduled, held),
    utilization: generator.utilization,
    held,
    limit: null,
    isFailing: operations.some((one) => one.sent - one.accepted > Math.max(1, 0.01 * one.sent)),
    connections: { count: sum(shards.map(({ asked }) => asked.connections)), serviceP50: 0 },
    transactions,
    delivery,
    halves: null,
  });
  const unstable = shards.some(({ verdict }) => verdict === 'UNSTABLE');
  return found.verdict === 'VALID' && unstable ? { ...found, verdict: 'UNSTABLE' } : found;
}
