/** Options of a load run, with the defaults for each workload. */
import type { LoadResult } from './result.js';

export type WorkloadName = LoadResult['asked']['workload'];

export interface LoadOptions {
  /** Server URL, without /api and without a trailing slash. */
  url: string;
  workload: WorkloadName;
  /**
   * Arrivals per second in an open loop. For the workload transactions, transactions per second,
   * with `batch` transactions per arrival. Null for a closed loop, which uses `concurrency`.
   */
  rate: number | null;
  /** Requests in flight in a closed loop. */
  concurrency: number | null;
  /** Number of agents, each with its own key. */
  agents: number;
  batch: number;
  durationMs: number;
  warmupMs: number;
  timeoutMs: number;
  /** Finality timeout for a transaction, from its scheduled time. */
  finalityTimeoutMs: number;
  /** Maximum number of HTTP connections. */
  connections: number;
  /** Seed for keys and random choices; random by default. */
  seed: string;
  /** True if the user named the seed, so that an earlier run may have used it. */
  seedNamed?: boolean;
  /** Leaves the agents active on the server. */
  keepAgents: boolean;
  /** Part of a run on several generators. `rate` is then the rate of this part. */
  shard?: Shard;
}

export interface Shard {
  /** Number of this generator, from 0. */
  index: number;
  count: number;
  /** Start of the warm-up on all generators, in milliseconds since 1970. */
  startAtMs: number;
}

/** Limits for --agents, for a block in the protocol, and for the updaters of `subscribers`. */
export const MOST = { agents: 100_000, batch: 1_000, updaters: 10_000 } as const;

/** A number as people write it: 1500, 1.5e3 or 1.5k. */
const numberPattern = /^(\d{1,12}(?:\.\d{1,6})?)(?:e(\d{1,2})|([kM]))?$/;

/** Returns null for any other text. */
export function parseNumber(text: string): number | null {
  const [, digits, exponent = '0', prefix] = numberPattern.exec(text) ?? [];
  if (digits === undefined) return null;
  const zeros = prefix === 'k' ? 3 : prefix === 'M' ? 6 : Number(exponent);
  return Number(`${digits}e${zeros}`);
}

/** A duration with units, from the largest to the smallest: 90s, 1m30s or 250us. */
export const durationPattern = new RegExp(
  `^(?=\\d)${['h', 'm(?!s)', 's', 'ms', 'us']
    .map((unit) => `(?:(\\d{1,12}(?:\\.\\d{1,6})?)${unit})?`)
    .join('')}$`,
);
const unitsMs = [3_600_000, 60_000, 1_000, 1, 0.001];

/** Returns milliseconds; null for any other text. */
export function parseDuration(text: string): number | null {
  const parts = durationPattern.exec(text)?.slice(1);
  if (!parts) return null;
  return parts.reduce((sum, part, index) => sum + Number(part ?? 0) * unitsMs[index]!, 0);
}

/** Workloads that several generators can share. */
export const sharedWorkloads: readonly WorkloadName[] = ['reads', 'transactions'];

/**
 * Defaults by workload. An agent votes once per block, so a high rate of votes needs many agents.
 */
export const workloadDefaults: Record<
  WorkloadName,
  Pick<LoadOptions, 'agents' | 'batch'> & { rate: number }
> = {
  votes: { agents: 1_000, batch: 0, rate: 1_000 },
  transactions: { agents: 4, batch: 100, rate: 500 },
  mixed: { agents: 100, batch: 10, rate: 500 },
  reads: { agents: 0, batch: 0, rate: 1_000 },
  subscribers: { agents: 100, batch: 0, rate: 10 },
};

export const loadDefaults = {
  durationMs: 10_000,
  warmupMs: 2_000,
  timeoutMs: 5_000,
  finalityTimeoutMs: 30_000,
  connections: 128,
} as const;

/**
 * Returns the delay of the first arrival, in milliseconds. The arrivals of all generators together
 * are those of one generator at the whole rate.
 */
export function firstArrivalMs(options: LoadOptions): number {
  const perS = arrivalsPerS(options);
  const { index = 0, count = 1 } = options.shard ?? {};
  return perS === null ? 0 : (index * 1_000) / (perS * count);
}

/** Returns the scheduled arrivals per second. A batch of transactions is one arrival. */
export function arrivalsPerS({
  workload,
  rate,
  batch,
}: Pick<LoadOptions, 'workload' | 'rate' | 'batch'>): number | null {
  return rate !== null && workload === 'transactions' ? rate / Math.max(1, batch) : rate;
}
