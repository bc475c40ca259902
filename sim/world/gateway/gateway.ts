/** The way from a live world to its network: how requests get there, and how events come back. */
import type { Event, Outcome, SignedRequest } from '../../../engine/internal.js';

/** `lost`: nobody answered, so the request may have been done or not. */
export type Answer = Outcome | { result: 'lost' };

export interface Gateway {
  readonly networkId: string;
  /** How the network stood when the gateway was opened: its head, and its last log entry. */
  readonly head: string;
  readonly seq: number;
  /** The network's time, milliseconds since 1970. */
  now(): number;
  /** `from` is the sender's ordinal. A refusal is an answer; it rejects only for what is a bug. */
  submit(from: number, request: SignedRequest): Promise<Answer>;
  /**
   * What happened since the gateway was opened: in order, each event once.
   * @throws {RemoteError} when the network is gone.
   */
  events(): AsyncIterable<Event>;
  /** The transactions of somebody's block; null when it cannot be read. */
  transactionsOf(block: string): Promise<readonly { data: string }[] | null>;
  close(): void;
}

/** A server cannot be used, or is not there any more. */
export class RemoteError extends Error {
  override name = 'RemoteError';
}
