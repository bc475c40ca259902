/**
 * The contract between a run, which decides when and how requests are sent, and a workload, which
 * decides their content.
 */
import type { LoadOptions } from './options.js';

export type OperationName = 'vote' | 'propose' | 'read' | 'meme' | 'status' | 'register';

/** A request ready to be sent, with all expensive work done. */
export interface Call {
  operation: OperationName;
  method: 'GET' | 'POST' | 'PUT';
  /** Path from /api/v1/ on, with query. */
  target: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /**
   * True if a successful response has the data that the protocol promises. If not, it counts as a
   * lie.
   */
  holds(data: unknown): boolean;
  /** Called with the outcome, after it was recorded. */
  completed(outcome: CallOutcome): void;
}

export type CallOutcome =
  | { kind: 'accepted'; status: number; data: unknown }
  | { kind: 'refused'; status: number; code: string; reason: string }
  | { kind: 'lie' | 'timed_out' | 'broken' | 'unfinished' };

/** Cause of a wait: responses of the server, or signatures of the generator. */
export type Wait = 'answers' | 'signatures';

/** Highest rate that a workload offers, and the option and value that raise it. */
export interface Limit {
  perS: number;
  option: '--agents' | '--batch';
  value: number;
}

export interface RunContext {
  options: LoadOptions;
  /** Clock of this process, milliseconds (`performance.now()`), used for all times of a run. */
  now(): number;
  /**
   * Sends a call outside the schedule: a registration, or a vote that finalizes a block. Such calls
   * precede arrivals, and are recorded separately, as `vote (beside)`.
   */
  send(call: Call): void;
  /** `next` returns a call again, after arrivals had to wait. */
  wake(): void;
  /** A proposal was sent for the arrival scheduled at `intendedMs`. */
  proposed(count: number, intendedMs: number): void;
  /** The proposal was accepted. */
  transactionsAccepted(count: number, intendedMs: number): void;
  /** Transactions were seen final in the event stream at `atMs`. */
  finalized(count: number, intendedMs: number, atMs: number): void;
  /** A subscriber received an event, `latencyMs` after the scheduled time of its cause. */
  delivered(latencyMs: number, intendedMs: number): void;
  /**
   * Changes the counts of expected and missing deliveries and of connections closed by the server.
   * The time is that of the cause, or of the last request before.
   */
  deliveries(
    change: { expected?: number; holes?: number; disconnects?: number },
    intendedMs: number,
  ): void;
  /** Ends the run as failed, with the figures measured so far. */
  fail(reason: string): void;
}

export interface Workload {
  /** Registers agents, signs ahead and connects, before the warm-up; reports slow steps. */
  prepare(context: RunContext, progress: (line: string) => void): Promise<PreparedRun>;
  /**
   * Returns the call of the next arrival, which is sent at once; null if the arrival must wait
   * until `wake`.
   */
  next(intendedMs: number): Call | null;
  /** Cause of the wait after `next` has returned null; default: answers. */
  waitsFor?(): Wait;
  /**
   * Computes the rate that the workload offered, and the option that makes it offer `perS`
   * arrivals/s; null if the workload has no limit, or no option raises it.
   */
  limit?(perS: number): Limit | null;
  /**
   * The schedule is over. Resolves once all work in flight is final or late, or `signal` aborts.
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Closes connections and threads, and sets the agents of the run inactive. */
  close(): Promise<void>;
  signed(): { keys: number; messages: number; preparedAhead: number };
}

export interface PreparedRun {
  subscribers: number;
}
