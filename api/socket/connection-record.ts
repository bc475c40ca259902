/** Records of WebSocket connections, the session interface, and used authentications. */
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { limits as bounds } from '../../engine/protocol/limits.js';
import type { closeCodes } from '../contract/channels.js';
import type { Feed, SessionFigures } from './feed.js';
import type { Watchers } from './watch.js';

/** The part of a session that the connections use. */
export interface OpenSession {
  figures(): SessionFigures;
  end(why: keyof typeof closeCodes): void;
  /** Ends the session in favour of its agent's newer session. */
  replace(): void;
  beat(): void;
}

/** A connection's state, retained for a while after the connection closes. */
export interface ConnectionRecord {
  readonly id: string;
  readonly connectedAt: number;
  agentId: string | null;
  publicKey: string | null;
  authenticatedAt: number | null;
  session: OpenSession | null;
  closed: { code: number; reason: string; at: number } | null;
  /** Address under which the connection counts while unauthenticated. */
  waitingFor: string | null;
  last: SessionFigures | null;
}

/** The part of the connections that a session uses. */
export interface SessionHost {
  readonly network: ServedNetwork;
  readonly feed: Feed;
  readonly now: () => number;
  /** Monotonic clock in milliseconds, for rates. */
  readonly steady: () => number;
  /** Null if watching is disabled. */
  readonly watchers: Watchers | null;
  /** False to allow any number of messages. */
  readonly limited: boolean;
  resumed: number;
  readonly usedAuths: UsedAuths;
  /** Records the agent. Replaces the agent's oldest connection if the agent has too many. */
  authenticated(record: ConnectionRecord): void;
  /** Marks the connection as watching, which ends the wait for `auth`. */
  watches(record: ConnectionRecord): void;
  ended(record: ConnectionRecord, code: number, reason: string): void;
}

/*
 * Accepted `auth` messages, kept as long as their timestamps are fresh. An attacker who captured an
 * `auth` message cannot use it to take the owner's place.
 */

/** Messages per agent. Only a flood reaches this limit. */
const MOST_OF_AGENT = 1_024;

export class UsedAuths {
  /** Signed texts with their expiry times, by key. */
  readonly #used = new Map<string, Map<string, number>>();

  has(publicKey: string, input: string): boolean {
    return this.#used.get(publicKey)?.has(input) ?? false;
  }

  /** Returns false if the message was used before, or if the agent has used too many. */
  use(publicKey: string, input: string, signedAt: number): boolean {
    const known = this.#used.get(publicKey) ?? new Map<string, number>();
    if (known.has(input) || known.size >= MOST_OF_AGENT) return false;
    this.#used.set(publicKey, known.set(input, signedAt + bounds.skewMs));
    return true;
  }

  forget(now: number): void {
    for (const [publicKey, known] of this.#used) {
      for (const [input, until] of known) if (until < now) known.delete(input);
      if (known.size === 0) this.#used.delete(publicKey);
    }
  }
}
