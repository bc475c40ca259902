/** Options of a load run, with the defaults for each workload. */
import type { LoadResult } from './result.js';

export type OperationName =
  | ('vote' | 'propose' | 'read' | 'meme' | 'status' | 'register')
  | ('connect' | 'script');

/** Part of a plan in which the value changes linearly. */
interface Segment {
  ms: number;
  from: number;
  to: number;
}

/** Arrivals per second or virtual users over time, from the start of a scenario. */
export interface Plan {
  of: 'arrivals' | 'users';
  segments: readonly Segment[];
  /** Number of iterations of all users together, or of each user. */
  iterations?: { count: number; each: boolean };
  /** Largest number of arrivals under way or waiting. Further ones are dropped. */
  most?: number;
}

/** A module in the sandbox that chooses requests, with rows of a data file. */
interface ScriptPlan {
  file: string;
  source: string;
  rows: readonly unknown[];
  /** True if it votes, so that the run builds a chain. */
  votes: boolean;
}

/** A load that is planned in advance, independent of other scenarios of the run. */
export interface Scenario {
  name: string;
  executor: string;
  plan: Plan;
  /** Start, counted from the start of the warm-up. */
  startMs: number;
  /** Time after the end of the plan in which requests in flight may end; null for no limit. */
  stopMs: number | null;
  /** Law of arrivals, or their times after the start of the scenario. */
  law: 'uniform' | 'poisson' | readonly number[];
  think: { fromMs: number; toMs: number } | null;
  mix: Mix;
  script: ScriptPlan | null;
}

export const faultKinds = {
  kill: 'ends the server with SIGKILL, and starts it again after the duration',
  stop: 'ends the server with SIGTERM, and starts it again after the duration',
  pause: 'pauses the server with SIGSTOP for the duration',
  slow: 'pauses the server for half of every 20 ms for the duration',
  start: 'starts a server that does not start with the run, and ends it after the duration',
  signal: 'sends a signal to the server',
  run: 'runs a command, and `undo` after the duration',
} as const;

export type FaultKind = keyof typeof faultKinds;

/** A planned fault. Times count from the start of the run. */
export interface FaultPlan {
  name: string;
  action: FaultKind;
  /** Name of a server of the load file; null for `run`. */
  server: string | null;
  atMs: number;
  durationMs: number;
  signal?: string | undefined;
  /** Command with its arguments, and the one that undoes it. */
  command?: readonly string[] | undefined;
  undo?: readonly string[] | undefined;
}

export interface ServerPlan {
  command: readonly string[];
  /** URL that answers once the server is ready; null if it needs no wait. */
  ready: string | null;
  /** False if only a fault starts it. */
  autostart: boolean;
}

export interface LoadOptions {
  /** Server URL, without /api and without a trailing slash. */
  url: string;
  /** All servers of the network, from `url` on, if there are several. */
  urls?: readonly string[];
  /** Continues an open loop while no server is reachable. */
  keepGoing?: boolean;
  /** Name of a workload or, for a file, its scenarios' requests in words. */
  workload: string;
  /** Scenarios of a file; without them, one scenario of `workload`, `rate` and `concurrency`. */
  scenarios?: readonly Scenario[];
  /** Faults during the run. A run with faults keeps going. */
  faults?: readonly FaultPlan[];
  file?: string;
  /** Sizes of transaction data and memes, in bytes, and data from a file. */
  payload?: Payload;
  /** Arrivals per second, or transactions in batches; null in a closed loop of `concurrency`. */
  rate: number | null;
  concurrency: number | null;
  agents: number;
  batch: number;
  durationMs: number;
  warmupMs: number;
  timeoutMs: number;
  /** Finality timeout for a transaction, from its scheduled time. */
  finalityTimeoutMs: number;
  connections: number;
  /** Most threads that sign. Default: all cores but two. */
  signingThreads?: number;
  /** Seed for keys and random choices; random by default. */
  seed: string;
  /** True if the user named the seed, so that an earlier run may have used it. */
  seedNamed?: boolean;
  keepAgents: boolean;
  /** Part of a run on several generators. `rate` is then the rate of this part. */
  shard?: Shard;
}

export interface Payload {
  /** Sizes that are equally likely, or the least and the most. */
  sizes?: readonly number[] | { from: number; to: number };
  lines?: readonly string[];
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
export function describeServer({ version, limits_profile, durable }: LoadResult['server']): string {
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

const eachOf = ({ agents, perMinute }: PeakLoad): number => perMinute / Math.max(1, agents);

const byAgent = (limit: string, perMinute: number): QuotaUse => ({
  ...{ limit, whom: 'agent', perMinute },
});

interface KindRow {
  /** Operation in the result; null if a script chooses it. */
  operation: OperationName | null;
  signs: boolean;
  /** Figures beyond those of arrivals. Blocks have transactions unless --batch is 0. */
  produces: 'transactions' | 'delivery' | null;
  isShared: boolean;
  /** Requests signed ahead per second of a closed loop. */
  guessPerS: number;
  /** Peak use of rate limits, in addition to registrations. */
  uses(peak: PeakLoad): QuotaUse[];
}

const reading: KindRow = {
  ...{ operation: 'read', signs: false, produces: null, isShared: true, guessPerS: 0 },
  uses: ({ perMinute }) => [{ limit: 'read', whom: 'address', perMinute }],
};

const signing = (operation: OperationName | null, guessPerS: number): KindRow => ({
  ...{ operation, signs: true, produces: null, isShared: false, guessPerS },
  uses: () => [],
});

const connecting = signing('connect', 200);

/** Kinds of requests. An agent votes once per block, so a high rate of votes needs many agents. */
export const kinds = {
  vote: {
    ...signing('vote', 10_000),
    produces: 'transactions',
    uses: (peak) => [byAgent('vote', eachOf(peak))],
  },
  propose: {
    ...signing('propose', 50),
    ...{ produces: 'transactions', isShared: true },
    uses: (peak) => [
      byAgent('propose', peak.batch === 0 ? 0 : eachOf(peak)),
      byAgent('vote', peak.perMinute),
    ],
  },
  ...{ read: reading, state: reading, agents: reading, reputation: reading },
  status: signing('status', 500),
  meme: signing('meme', 500),
  update: { ...signing('status', 1_000), produces: 'delivery' },
  ...{ connect: connecting, reconnect: connecting, slowread: connecting },
  script: signing(null, 500),
} as const satisfies Record<string, KindRow>;

export type Kind = keyof typeof kinds;

export type Mix = Partial<Record<Kind, number>>;

interface WorkloadRow extends Pick<LoadOptions, 'agents' | 'batch'> {
  about: string;
  /** Default rate. `agents` and `batch` are defaults, too; without agents, none are registered. */
  rate: number;
  mix: Mix;
}

/** The built-in workloads: defaults and a mix. */
export const workloads = {
  votes: {
    about: 'signed votes that decide one block after another',
    ...{ agents: 1_000, batch: 0, rate: 1_000, mix: { vote: 1 } },
  },
  transactions: {
    about: 'transactions, proposed and voted on until finality',
    ...{ agents: 4, batch: 100, rate: 500, mix: { propose: 1 } },
  },
  mixed: {
    about: 'reads, votes, memes and status changes',
    ...{ agents: 100, batch: 10, rate: 500 },
    mix: { vote: 60, state: 12, agents: 3, reputation: 15, status: 7, meme: 3 },
  },
  reads: {
    about: 'reads of state, agents and reputations',
    ...{ agents: 0, batch: 0, rate: 1_000, mix: { read: 1 } },
  },
  subscribers: {
    about: 'status changes, delivered to all subscribed agents',
    ...{ agents: 100, batch: 0, rate: 10, mix: { update: 1 } },
  },
} as const satisfies Record<string, WorkloadRow>;

export type WorkloadName = keyof typeof workloads;

export const workloadNames = Object.keys(workloads) as WorkloadName[];

export const workloadOf = (name: string): WorkloadRow => workloads[name as WorkloadName];

/** Returns the kinds of a mix with their shares, the most frequent one first. */
export function sharesOf(mix: Mix): { kind: Kind; share: number; row: KindRow }[] {
  const entries = (Object.entries(mix) as [Kind, number][]).filter(([, weight]) => weight > 0);
  const whole = entries.reduce((sum, [, weight]) => sum + weight, 0);
  return entries
    .map(([kind, weight]) => ({ kind, share: weight / whole, row: kinds[kind] as KindRow }))
    .sort((a, b) => b.share - a.share);
}

export const kindsOf = (options: LoadOptions) =>
  scenariosOf(options).flatMap(({ mix, script }) => {
    const voting = script?.votes ? sharesOf({ vote: 1 }) : [];
    return [...sharesOf(mix), ...voting];
  });

/** True if registered agents send some of the requests. */
export const signsIn = (options: LoadOptions): boolean =>
  kindsOf(options).some(({ row }) => row.signs);

/** Returns the scenarios of a run. The options --rate and --concurrency are one scenario. */
export function scenariosOf(options: LoadOptions): readonly Scenario[] {
  if (options.scenarios) return options.scenarios;
  const { workload, concurrency, warmupMs, durationMs } = options;
  const perS = arrivalsPerS(options);
  const value = perS ?? concurrency ?? 1;
  return [
    {
      name: workload,
      executor: perS === null ? 'constant-vus' : 'constant-arrival-rate',
      plan: {
        of: perS === null ? 'users' : 'arrivals',
        segments: [{ ms: warmupMs + durationMs, from: value, to: value }],
      },
      ...{ startMs: 0, stopMs: null, law: 'uniform', think: null },
      ...{ mix: workloadOf(workload).mix, script: null },
    },
  ];
}

export const loadDefaults = {
  ...({ durationMs: 10_000, warmupMs: 2_000, timeoutMs: 5_000 } as const),
  ...({ finalityTimeoutMs: 30_000, connections: 128 } as const),
} as const;

/** Returns the scheduled arrivals per second. A batch of transactions is one arrival. */
export function arrivalsPerS(of: Pick<LoadOptions, 'workload' | 'rate' | 'batch'>): number | null {
  const isBatched = of.rate !== null && of.workload === 'transactions';
  return isBatched ? of.rate! / Math.max(1, of.batch) : of.rate;
}
