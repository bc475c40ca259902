/** What a load run is asked for, with the defaults of each workload. */
import type { LoadResult } from './result.js';

export type WorkloadName = LoadResult['asked']['workload'];

export interface LoadOptions {
  /** Of the server, without /api and without a slash at its end. */
  url: string;
  workload: WorkloadName;
  /**
   * Arrivals a second, fixed in advance; of the workload transactions, transactions a second, which
   * come `batch` to an arrival. Or null, then `concurrency` counts.
   */
  rate: number | null;
  /** Requests under way at a time: the closed loop. */
  concurrency: number | null;
  /** Agents, each with a key of its own. */
  agents: number;
  /** Transactions a block. */
  batch: number;
  durationMs: number;
  warmupMs: number;
  /** Deadline of a request, from when it is sent. */
  timeoutMs: number;
  /** Deadline of a transaction, from its intended time. */
  finalityTimeoutMs: number;
  /** HTTP connections at most. */
  connections: number;
  /** Keys and choices follow from it; drawn anew for each run unless given. */
  seed: string;
  /** Leaves the agents of the run active on the server. */
  keepAgents: boolean;
}

/** What differs by workload; votes wait for no block longer when more agents vote. */
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

/** Arrivals a second of the schedule: a batch of transactions is one. */
export function arrivalsPerS({ workload, rate, batch }: LoadOptions): number | null {
  return rate !== null && workload === 'transactions' ? rate / Math.max(1, batch) : rate;
}
