/** The contract between a run, which sends requests, and a workload, which makes them. */
import type { Nodes } from './nodes.js';
import type { LoadOptions, OperationName } from './options.js';

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
  /** Returns true if a success has the data that the protocol promises; if not, it is a lie. */
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

/** Reports of transactions and deliveries, with the scheduled time of their cause. */
interface Reports {
  proposed(count: number, intendedMs: number): void;
  transactionsAccepted(count: number, intendedMs: number): void;
  finalized(count: number, intendedMs: number, atMs: number): void;
  delivered(latencyMs: number, intendedMs: number): void;
  deliveries(
    change: { expected?: number; holes?: number; disconnects?: number },
    intendedMs: number,
  ): void;
}

export interface RunContext {
  options: LoadOptions;
  nodes: Nodes;
  /** This process's clock in milliseconds (`performance.now()`), used for all times in a run. */
  now(): number;
  /** Sends a call outside the schedule, before arrivals. It is recorded as `vote (beside)`. */
  send(call: Call): void;
  /** Reports that `next` returns a call again after arrivals had to wait. */
  wake(): void;
  recorder: Reports;
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

export interface Source {
  /** Returns the call for the next arrival, which is sent at once; null until `wake`. */
  next(intendedMs: number): Call | null;
  onReturned?(): void;
  /** Returns the cause of the wait after `next` has returned null (default: `answers`). */
  waitsFor?(): Wait;
  /** Computes the offered rate, and the option that would offer `perS`; null without a limit. */
  limit?(perS: number): Limit | null;
  /** Called after the schedule. Resolves once all work is final or late, or on `signal`. */
  drain?(signal: AbortSignal): Promise<void>;
  notes?(): string[];
}
