/** What is shown of a load run, while it goes on and once it is over; safe in a browser. */

/**
 * `waiting` until it is told to begin; `preparing` whatever comes before the warm-up; `draining`
 * while answers and finality are waited for; `failed` where it could not begin.
 */
export type LoadPhase =
  | 'waiting'
  | 'preparing'
  | 'warm-up'
  | 'measured'
  | 'draining'
  | 'over'
  | 'failed';

/** Names, units and meanings are those of `result.json`: see docs/load-testing.md. */
export interface LoadState {
  phase: LoadPhase;
  /** What is prepared, or why it failed; '' where there is nothing to say. */
  said: string;
  /** Of the phase, so far and in all; null where nobody can know. */
  passed_ms: number | null;
  of_ms: number | null;
  asked: LoadAsked;
  server: LoadTarget;
  /** What one core of the generator's machine verifies a second. */
  r: number | null;
  verdict: LoadVerdict | null;
  figures: LoadFigures | null;
  /** Of --saturate. */
  search: LoadSearch | null;
}

interface LoadAsked {
  workload: string;
  loop: 'open' | 'closed';
  rate: number | null;
  concurrency: number | null;
  agents: number;
  batch: number;
  duration_s: number;
  warmup_s: number;
  timeout_ms: number;
  finality_timeout_ms: number;
  connections: number;
}

export interface LoadTarget {
  url: string;
  version: string | null;
  limits_profile: string | null;
  durable: boolean | null;
  network_id: string | null;
  /** Where a browser sees its network; null where it serves no page. */
  page: string | null;
}

export interface LoadVerdict {
  verdict: 'VALID' | 'UNSTABLE' | 'CLIENT_BOUND' | 'WORKLOAD_BOUND' | 'INVALID';
  reasons: string[];
  /** Null while the run goes on: what the verdict would be if what is under way is accepted. */
  ended: 'complete' | 'interrupted' | 'failed' | null;
}

export interface LoadFigures {
  measured_s: number;
  arrivals: {
    intended: number;
    accepted: number;
    accepted_per_s: number;
    of_target: number | null;
  };
  /** Of what was answered or given up, the share that was not accepted. */
  errors: number | null;
  /** Of the slowest operation of the schedule, from the intended time on. */
  response: { p50: number | null; p95: number | null; p99: number | null };
  /** Null where none were proposed. */
  transactions: LoadTransactions | null;
  /** Null where nobody subscribes. */
  delivery: LoadDelivery | null;
  times: LoadTimes[];
  operations: LoadOperation[];
  /** The most frequent first, and how many kinds more there are. */
  failures: LoadFailure[];
  failures_omitted: number;
  generator: { lag_p99: number | null; utilization: number };
  seconds: LoadSeconds;
}

interface LoadTransactions {
  proposed: number;
  finalized: number;
  timed_out: number;
  unfinished: number;
  tps: number;
}

interface LoadDelivery {
  subscribers: number;
  expected: number;
  delivered: number;
  holes: number;
  disconnects: number;
  deliveries_per_s: number;
}

/** Milliseconds. */
export interface LoadTimes {
  /** Null where it is of all. */
  operation: string | null;
  time: 'response' | 'service' | 'finality' | 'delivery' | 'lag';
  count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}

interface LoadOperation {
  operation: string;
  sent: number;
  accepted: number;
  /** Whatever became of those that were not accepted. */
  failed: number;
}

export interface LoadFailure {
  operation: string;
  what: 'refused' | 'lie' | 'timed_out' | 'broken' | 'unfinished';
  status: number | null;
  code: string | null;
  reason: string | null;
  count: number;
  /** Of all requests of the operation. */
  share: number;
}

/** Column by column; of several seconds the mean count a second, and the longest time. */
export interface LoadSeconds {
  /** Seconds that a place in the columns holds: more, the longer the run. */
  width: number;
  intended: number[];
  accepted: number[];
  failed: number[];
  finalized_transactions: number[];
  response_p50: (number | null)[];
  response_p95: (number | null)[];
  response_p99: (number | null)[];
  lag_max: (number | null)[];
}

export interface LoadSearch {
  /** What has to hold, such as p99<=200ms. */
  slo: string[];
  /** How many brackets are sought. */
  repeat: number;
  /** The rate that is tried; null between two of them. */
  rate: number | null;
  /** As far as they are known: the highest rate that held, and the lowest above it that failed. */
  brackets: { holds: number; fails: number | null }[];
  /** The last ones, and how many came before them. */
  probes: LoadProbe[];
  probes_omitted: number;
}

export interface LoadProbe {
  /** Counted from 1. */
  bracket: number;
  rate: number;
  accepted_per_s: number;
  p99: number | null;
  holds: boolean;
  verdict: LoadVerdict['verdict'];
  /** Why it does not hold, or is not VALID; '' otherwise. */
  reason: string;
  r_before: number | null;
}

/** An answer: `version` goes up whenever something is new, and `after` waits for that. */
export interface LoadAnswer {
  version: number;
  load: LoadState;
}
