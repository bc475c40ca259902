/** State of a load run, as shown on its page. Runs in browsers. */

/**
 * Phase of a load run. `waiting`: not started yet; `preparing`: everything before the warm-up;
 * `draining`: waiting for responses and finality; `failed`: could not start.
 */
export type LoadPhase =
  | 'waiting'
  | 'preparing'
  | 'warm-up'
  | 'measured'
  | 'draining'
  | 'over'
  | 'failed';

/**
 * State of a load run. Names, units and meanings are as in `result.json` (see
 * docs/load-testing.md).
 */
export interface LoadState {
  phase: LoadPhase;
  /** Preparation step or reason for the failure; otherwise empty. */
  said: string;
  /** Elapsed and total time in the phase; null if unknown. */
  passed_ms: number | null;
  of_ms: number | null;
  asked: LoadAsked;
  server: LoadTarget;
  /** Signatures that one generator core verifies per second. */
  r: number | null;
  verdict: LoadVerdict | null;
  figures: LoadFigures | null;
  /** Search by --saturate. */
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
  /** The network's web page; null if the server has no page. */
  page: string | null;
}

export interface LoadVerdict {
  verdict: 'VALID' | 'UNSTABLE' | 'CLIENT_BOUND' | 'WORKLOAD_BOUND' | 'INVALID' | 'INCOMPLETE';
  reasons: string[];
  /** Null during the run, when the verdict assumes that pending requests succeed. */
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
  /** Share of completed or abandoned requests that were not accepted. */
  errors: number | null;
  /** The slowest scheduled operation at each percentile; null without a response. */
  response: { p50: LoadSlowest | null; p95: LoadSlowest | null; p99: LoadSlowest | null };
  /** Null if no transactions are proposed. */
  transactions: LoadTransactions | null;
  /** Null if there are no subscribers. */
  delivery: LoadDelivery | null;
  times: LoadTimes[];
  operations: LoadOperation[];
  /** The most frequent failure kinds, and the number of omitted kinds. */
  failures: LoadFailure[];
  failures_omitted: number;
  generator: { lag_p99: number | null; utilization: number };
  seconds: LoadSeconds;
}

/** Times of one operation at one percentile, in milliseconds. */
export interface LoadSlowest {
  operation: string;
  /** Measured from the intended start. */
  response: number;
  service: number | null;
  /** False if much of the response time is generator lag or waiting for the workload. */
  attributed: boolean;
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

/** Percentiles in milliseconds. */
export interface LoadTimes {
  /** Null for all operations together. */
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
  /** Requests that were not accepted, for any reason. */
  failed: number;
}

export interface LoadFailure {
  operation: string;
  what: 'refused' | 'lie' | 'timed_out' | 'broken' | 'unfinished';
  status: number | null;
  code: string | null;
  reason: string | null;
  count: number;
  /** Share among the operation's requests. */
  share: number;
}

/**
 * Columns over time. An element that covers several seconds contains the mean rate and the maximum
 * time.
 */
export interface LoadSeconds {
  /** Seconds per element, which increase with the length of the run. */
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
  /** Objectives, such as p99<=200ms. */
  slo: string[];
  /** Number of brackets to find. */
  repeat: number;
  /** Rate under test; null between two probes. */
  rate: number | null;
  /** Per bracket, the highest rate that held and the lowest higher rate that failed. */
  brackets: { holds: number; fails: number | null }[];
  /** The last probes, and the number of earlier probes. */
  probes: LoadProbe[];
  probes_omitted: number;
}

export interface LoadProbe {
  /** From 1. */
  bracket: number;
  rate: number;
  accepted_per_s: number;
  p99: number | null;
  holds: boolean;
  verdict: LoadVerdict['verdict'];
  /** Reason why the probe does not hold or is not VALID; otherwise empty. */
  reason: string;
  r_before: number | null;
}

/** A response. `version` increases with every change. */
export interface LoadAnswer {
  version: number;
  load: LoadState;
}
