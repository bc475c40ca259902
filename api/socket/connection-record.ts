/**
 * The record of a WebSocket connection, what a session and its keeper call on each other, and the
 * authentications that were used already.
 */
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { limits as bounds } from '../../engine/protocol/limits.js';
import type { closeCodes } from '../contract/channels.js';
import type { Feed, SessionFigures } from './feed.js';
import type { Watchers } from './watch.js';

/** A session, to those who keep all of them. */
export interface OpenSession {
  figures(): SessionFigures;
  end(why: keyof typeof closeCodes): void;
  /** A newer connection of its agent takes its place. */
  replace(): void;
  beat(): void;
}

/** What is shown of a connection, also for a while after it closed. */
export interface ConnectionRecord {
  readonly id: string;
  readonly connectedAt: number;
  agentId: string | null;
  publicKey: string | null;
  authenticatedAt: number | null;
  session: OpenSession | null;
  closed: { code: number; reason: string; at: number } | null;
  /** The address that it counts for, until it is authenticated or gone. */
  waitingFor: string | null;
  /** Kept from the session when it ends. */
  last: SessionFigures | null;
}

/** What a session asks of those who keep all of them. */
export interface SessionHost {
  readonly network: ServedNetwork;
  readonly feed: Feed;
  readonly now: () => number;
  /** Milliseconds that nobody sets: rates count by it. */
  readonly steady: () => number;
  /** Null where nobody may watch. */
  readonly watchers: Watchers | null;
  resumed: number;
  readonly usedAuths: UsedAuths;
  /** It has an agent now; the oldest of the agent's gives way if there are too many. */
  authenticated(record: ConnectionRecord): void;
  /** It watches: its auth is not waited for. */
  watches(record: ConnectionRecord): void;
  ended(record: ConnectionRecord, code: number, reason: string): void;
}

/*
 * `auth` messages that were accepted, for as long as they are fresh: whoever captured one cannot
 * take its owner's place with it.
 */

/** Of one agent while they are fresh; so many more than it needs that only a flood has them. */
const MOST_OF_AGENT = 1_024;

export class UsedAuths {
  /** By key: the text that was signed, and when it is no longer fresh. */
  readonly #used = new Map<string, Map<string, number>>();

  has(publicKey: string, input: string): boolean {
    return this.#used.get(publicKey)?.has(input) ?? false;
  }

  /** Whether it was not used before, and there was room to remember it. */
  use(publicKey: string, input: string, signedAt: number): boolean {
    const known = this.#used.get(publicKey) ?? new Map<string, number>();
    if (known.has(input) || known.size >= MOST_OF_AGENT) return false;
    this.#used.set(publicKey, known.set(input, signedAt + bounds.skewMs));
    return true;
  }

  /** Forgets what would be refused for its age. */
  forget(now: number): void {
    for (const [publicKey, known] of this.#used) {
      for (const [input, until] of known) if (until < now) known.delete(input);
      if (known.size === 0) this.#used.delete(publicKey);
    }
  }
}
