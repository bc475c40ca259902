/** What is kept of a WebSocket connection, and what a session and its keeper ask of each other. */
import type { ServedNetwork } from '../../engine/internal.js';
import type { closeCodes } from '../contract/channels.js';
import type { Feed } from './feed/feed.js';
import type { SessionFigures } from './feed/subscriber.js';
import type { UsedAuths } from './used-auths.js';
import type { Watchers } from './watch/watchers.js';

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
