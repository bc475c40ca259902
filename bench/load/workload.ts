/**
 * The contract between a run and a workload. The run decides when and how requests are sent, and
 * the workload decides their content.
 */
import type { Nodes } from './nodes.js';
import type { LoadOptions, OperationName } from './options.js';
import type { Recorder } from './recorder.js';

/** A request ready to be sent, with all expensive work done. */
export interface Call {
  operation: OperationName;
  /** Ordinal of the agent, which determines the server; absent if any server will do. */
  agent?: number;
  method: 'GET' | 'POST' | 'PUT';
  /** Path from /api/v1/ on, with query. */
  target: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /**
   * Returns true if a successful response contains the data that the protocol promises. If not, the
   * response counts as a lie.
   */
  holds(data: unknown): boolean;
  /** Performs a call that sends no HTTP request. If it rejects, the call counts as broken. */
  perform?(): Promise<CallOutcome>;
  outcome?: CallOutcome;
  /** Called with the outcome after it was recorded. */
  completed(outcome: CallOutcome): void;
}

export type CallOutcome =
  | { kind: 'accepted'; status: number; data: unknown }
  | { kind: 'refused'; status: number; code: string; reason: string }
  | { kind: 'lie' | 'timed_out' | 'broken' | 'unfinished' };

/** Cause of a wait: responses from the server, or signatures from the generator. */
export type Wait = 'answers' | 'signatures';

/** Highest rate that a workload offers, and the option and value that raise it. */
export interface Limit {
  perS: number;
  option: '--agents' | '--batch';
  value: number;
}

export interface RunContext {
  options: LoadOptions;
  nodes: Nodes;
  /** This process's clock in milliseconds (`performance.now()`), used for all times in a run. */
  now(): number;
  /**
   * Sends a call outside the schedule, such as the votes of a block whose proposal is the arrival.
   * Such calls precede arrivals and are recorded separately, for example as `vote (beside)`.
   */
  send(call: Call): void;
  /** Reports that `next` returns a call again after arrivals had to wait. */
  wake(): void;
  /** Takes reports of transactions and deliveries. Requests are recorded by the run. */
  recorder: Recorder;
  /** Reports a block of the run, when its hash is known and when the stream showed it as final. */
  block(hash: string, transactions: number, intendedMs: number, finalMs: number | null): void;
  /** Ends the run as failed, with the figures measured so far. */
  fail(reason: string): void;
}

/** Expected requests per second, and in the whole run. */
export interface Expected {
  perS: number;
  total: number;
}

/** Requests of one kind. */
export interface Source {
  /**
   * Returns the call for the next arrival, which is sent at once; null if the arrival must wait
   * until `wake`.
   */
  next(intendedMs: number): Call | null;
  /** Called when a server responds again after an outage. */
  onReturned?(): void;
  /** Returns the cause of the wait after `next` has returned null (default: `answers`). */
  waitsFor?(): Wait;
  /**
   * Computes the rate that the source offered, and the option that makes it offer `perS` arrivals
   * per second. Returns null if the source has no limit, or if no option raises the limit.
   */
  limit?(perS: number): Limit | null;
  /**
   * Called when the schedule is over. Resolves once all work in flight is final or late, or when
   * `signal` aborts.
   */
  drain?(signal: AbortSignal): Promise<void>;
  notes?(): string[];
}
