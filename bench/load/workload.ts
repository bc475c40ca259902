/**
 * The contract between a run, which knows when and how requests are sent, and a workload, which
 * knows what is asked. Neither knows the other's side.
 */
import type { LoadOptions } from './options.js';

export type OperationName = 'vote' | 'propose' | 'read' | 'meme' | 'status' | 'register';

/** A request ready to be sent: everything costly was done before. */
export interface Call {
  operation: OperationName;
  method: 'GET' | 'POST' | 'PUT';
  /** From /api/v1/ on, query included. */
  target: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** Whether an answer of success has what the interface promises: else it is a lie. */
  holds(data: unknown): boolean;
  /** DeliveryRecord once what became of it, after it was recorded. */
  completed(outcome: CallOutcome): void;
}

export type CallOutcome =
  | { kind: 'accepted'; status: number; data: unknown }
  | { kind: 'refused'; status: number; code: string; reason: string }
  | { kind: 'lie' | 'timed_out' | 'broken' | 'unfinished' };

/** Causes for which an arrival waits: answers of the server, or signatures of the generator. */
export type Wait = 'answers' | 'signatures';

/** The highest rate that a workload offers, and the option and value that raise it. */
export interface Limit {
  perS: number;
  option: '--agents' | '--batch';
  value: number;
}

/** What a run gives to its workload. */
export interface RunContext {
  options: LoadOptions;
  /** Of this process, milliseconds, as `performance.now()`: all times of a run are on it. */
  now(): number;
  /**
   * Sends outside the schedule: registrations, the votes that finalize a block. They go before
   * arrivals, and are recorded apart, as `vote (beside)`.
   */
  send(call: Call): void;
  /** Arrivals waited for something of the workload's (an open block); now `next` has one again. */
  wake(): void;
  /** Transactions of a proposal sent for an arrival that was intended at `intendedMs`. */
  proposed(count: number, intendedMs: number): void;
  /** Of the same proposal, once its answer says so. */
  transactionsAccepted(count: number, intendedMs: number): void;
  /** Seen finalized through the event stream, at `atMs`. */
  finalized(count: number, intendedMs: number, atMs: number): void;
  /** One event at one subscriber, `latencyMs` after what caused it was intended. */
  delivered(latencyMs: number, intendedMs: number): void;
  /**
   * How often deliveries were due, missing, or connections closed by the server; with the intended
   * time of what caused them, or of what was sent last before them.
   */
  deliveries(
    change: { expected?: number; holes?: number; disconnects?: number },
    intendedMs: number,
  ): void;
  /** The run cannot go on: it ends with what it measured, marked as failed for this reason. */
  fail(reason: string): void;
}

export interface Workload {
  /** Registers agents, signs ahead, connects; tells what takes long. All before the warm-up. */
  prepare(context: RunContext, progress: (line: string) => void): Promise<PreparedRun>;
  /**
   * The call of the next arrival, or null when it has to wait: `wake` is called when it need not
   * any more. What it returns is sent at once.
   */
  next(intendedMs: number): Call | null;
  /** Names the cause when `next` gave null; without it, answers. */
  waitsFor?(): Wait;
  /**
   * Computes the rate that the workload offered, and the option that makes it offer `perS` arrivals
   * a second; null where the workload has no limit, or no option raises it.
   */
  limit?(perS: number): Limit | null;
  /** The schedule is over: resolves when what is under way is final, late, or `signal` aborts. */
  drain(signal: AbortSignal): Promise<void>;
  /** Closes connections and threads, and takes the run's agents out of the network. */
  close(): Promise<void>;
  /** What was signed, for the result. */
  signed(): { keys: number; messages: number; preparedAhead: number };
}

export interface PreparedRun {
  /** Subscribers connected. */
  subscribers: number;
}
