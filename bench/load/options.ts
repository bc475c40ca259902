/** Options of a load run, with the defaults for each workload. */
export type OperationName = 'vote' | 'propose' | 'read' | 'meme' | 'status' | 'register';

export interface LoadOptions {
  /** Server URL, without /api and without a trailing slash. */
  url: string;
  /** All servers of the network, from `url` on, if there are several. */
  urls?: readonly string[];
  /** Continues an open loop while no server is reachable. */
  keepGoing?: boolean;
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
  /** Most threads that sign. Default: all cores but two. */
  signingThreads?: number;
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

/** Limits for --agents, a block in the protocol, the updaters of `subscribers`, and --url. */
export const MOST = { agents: 100_000, batch: 1_000, updaters: 10_000, urls: 64 } as const;

export const serversOf = ({ url, urls = [url] }: LoadOptions): readonly string[] => urls;

/** Formats the settings that a server reports. */
export function describeServer({
  version,
  limits_profile,
  durable,
}: {
  version: string | null;
  limits_profile: string | null;
  durable: boolean | null;
}): string {
  const known = [
    ...(version === null ? [] : [`version ${version}`]),
    ...(limits_profile === null ? [] : [`limits ${limits_profile}`]),
    ...(durable === null ? [] : [durable ? 'durable on disk' : 'in memory']),
  ];
  return known.length > 0 ? known.join(', ') : 'no server information';
}

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

/** A run's peak use of a rate limit. */
export interface QuotaUse {
  limit: string;
  whom: 'address' | 'agent';
  perMinute: number;
}

/** The load that a rate limit sees: arrivals in the busiest minute, and the options of the run. */
interface PeakLoad extends Pick<LoadOptions, 'agents' | 'batch'> {
  perMinute: number;
}

interface WorkloadRow extends Pick<LoadOptions, 'agents' | 'batch'> {
  /** Line of the help. */
  about: string;
  /** Default rate. `agents` and `batch` are defaults, too; without agents, none are registered. */
  rate: number;
  /** Operations that are arrivals, the most frequent one first. */
  schedules: readonly [OperationName, ...OperationName[]];
  /** Figures beyond those of arrivals. Blocks have transactions unless --batch is 0. */
  produces: 'transactions' | 'delivery' | null;
  /** True if several generators can share it. */
  isShared: boolean;
  /** Peak use of rate limits, in addition to registrations. */
  uses(peak: PeakLoad): QuotaUse[];
}

const eachOf = ({ agents, perMinute }: PeakLoad): number => perMinute / Math.max(1, agents);

const reading = (perMinute: number): QuotaUse => ({ limit: 'read', whom: 'address', perMinute });

const byAgent = (limit: string, perMinute: number): QuotaUse => ({
  ...{ limit, whom: 'agent', perMinute },
});

/**
 * The workloads. `run.ts` names the module of each. An agent votes once per block, so a high rate
 * of votes needs many agents.
 */
export const workloads = {
  votes: {
    about: 'signed votes that decide one block after another',
    ...{ agents: 1_000, batch: 0, rate: 1_000, isShared: false },
    ...{ schedules: ['vote'], produces: 'transactions' },
    uses: (peak) => [byAgent('vote', eachOf(peak))],
  },
  transactions: {
    about: 'transactions, proposed and voted on until finality',
    ...{ agents: 4, batch: 100, rate: 500, isShared: true },
    ...{ schedules: ['propose'], produces: 'transactions' },
    uses: (peak) => [
      byAgent('propose', peak.batch === 0 ? 0 : eachOf(peak)),
      byAgent('vote', peak.perMinute),
    ],
  },
  mixed: {
    about: 'reads, votes, memes and status changes',
    ...{ agents: 100, batch: 10, rate: 500, isShared: false },
    ...{ schedules: ['vote', 'read', 'status', 'meme'], produces: 'transactions' },
    // Three out of ten arrivals are reads.
    uses: ({ perMinute }) => [reading(0.3 * perMinute)],
  },
  reads: {
    about: 'reads of state, agents and reputations',
    ...{ agents: 0, batch: 0, rate: 1_000, isShared: true },
    ...{ schedules: ['read'], produces: null },
    uses: ({ perMinute }) => [reading(perMinute)],
  },
  subscribers: {
    about: 'status changes, delivered to all subscribed agents',
    ...{ agents: 100, batch: 0, rate: 10, isShared: false },
    ...{ schedules: ['status'], produces: 'delivery' },
    uses: () => [],
  },
} as const satisfies Record<string, WorkloadRow>;

export type WorkloadName = keyof typeof workloads;

export const workloadNames = Object.keys(workloads) as WorkloadName[];

export const workloadOf = (name: WorkloadName): WorkloadRow => workloads[name];

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
