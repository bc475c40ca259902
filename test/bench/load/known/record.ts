/** The record of a known server, which a load run is compared with. */
import type { Behaviour, Route, Treatment } from './behaviour.js';

type Misdelivery = 'withhold' | 'repeat' | 'garble';

/** Settings of a known server. */
export interface Made {
  behaviours: readonly Behaviour[];
  /** Producers that exist from the start, so that reads find an agent. */
  citizens: number;
  /**
   * With `interface`, only the standard protocol: no acknowledgements, seq, outcomes, /meta or
   * additional members.
   */
  shows: 'everything' | 'interface' | 'interface and network_id';
  /** True if two thirds of the votes finalize a block. */
  finalizes: boolean;
  /** Treatment of every n-th delivery of events of these types. */
  misdelivers: { types: readonly string[]; every: number; does: Misdelivery } | null;
  /** Verifies each signature, and lists problems in `Record.wrong`. */
  checks: boolean;
}

/** One request. Times are milliseconds since 1970, with decimals. */
export interface Received {
  route: Route;
  atMs: number;
  treatment: Treatment;
  /** Planned time of the response. */
  dueAtMs: number;
  /** Start of the response or its replacement; null without one. */
  answeredAtMs: number | null;
  /** HTTP status; 0 without one. */
  status: number;
}

export interface Record {
  requests: Received[];
  /** Events to subscribers by type, and those dropped or repeated. */
  delivered: { [type: string]: number };
  misdelivered: number;
  /** WebSockets opened, authenticated, and closed by the server. */
  sockets: { opened: number; authenticated: number; closed: number };
  /** Final blocks with the time of the vote that finalized each, and their transactions. */
  finalized: { hash: string; atMs: number; transactions: number }[];
  /** Verified signatures, and number of keys. */
  signatures: number;
  keys: number;
  /** Violations of the protocol: an invalid signature, a repeated message. */
  wrong: string[];
}

/** Messages between test and process. */
export type Asked = 'record';
export type Said = { port: number } | { record: Record };

/** A clock that processes share. */
export const nowMs = () => performance.timeOrigin + performance.now();
