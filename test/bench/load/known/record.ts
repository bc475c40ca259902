/** A known server's record, with which a load run is compared. */
import type { Behaviour, Route, Treatment } from './behaviour.js';

type Misdelivery = 'withhold' | 'repeat' | 'garble';

/** Settings of a known server. */
export interface Made {
  behaviours: readonly Behaviour[];
  /** Producers that exist from the start, so that reads find an agent. */
  citizens: number;
  /**
   * With `interface`, the server shows only the standard protocol, without acknowledgements, seq,
   * outcomes, /meta or additional members.
   */
  shows: 'everything' | 'interface' | 'interface and network_id';
  /** Treatment of every n-th delivery of events of these types. */
  misdelivers: { types: readonly string[]; every: number; does: Misdelivery } | null;
}

/** One request. Times are in milliseconds since 1970, with decimals. */
export interface Received {
  route: Route;
  atMs: number;
  treatment: Treatment;
  /** Planned time of the response. */
  dueAtMs: number;
  /** Start of the response or of its replacement; null if there was neither. */
  answeredAtMs: number | null;
  /** HTTP status; 0 without a response. */
  status: number;
}

export interface Record {
  requests: Received[];
  /** Events sent to subscribers, by type, and events dropped or repeated. */
  delivered: { [type: string]: number };
  misdelivered: number;
  /** WebSockets that were opened, authenticated, and closed by the server. */
  sockets: { opened: number; authenticated: number; closed: number };
  /** Final blocks with the time of the finalizing vote, and the number of transactions. */
  finalized: { hash: string; atMs: number; transactions: number }[];
  /** Number of different signatures of requests and transactions. */
  signatures: number;
  /** Number of keys. */
  keys: number;
  /** Longest delay of the event loop of the server. */
  lateMs: number;
  /** Routes of requests that repeat a signed message. */
  repeated: string[];
}

/** Messages between test and process. */
export type Asked = 'record';
export type Said = { port: number } | { record: Record };

/** Returns the time on a clock that all processes share. */
export const nowMs = () => performance.timeOrigin + performance.now();
