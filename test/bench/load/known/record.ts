/** What a server of known behaviour wrote down: the truth that a load run is compared with. */
import type { Behaviour, Route, Treatment } from './behaviour.js';

type Misdelivery = 'withhold' | 'repeat' | 'garble';

/** How a server of known behaviour is made. */
export interface Made {
  behaviours: readonly Behaviour[];
  /** Producers that are there from the start, so that there is somebody to read about. */
  citizens: number;
  /**
   * Of `interface` only what the interface shows: no acknowledgements, seq, outcomes, /meta or
   * added members, and nothing in answers that it does not show.
   */
  shows: 'everything' | 'interface' | 'interface and network_id';
  /** Whether two thirds of the votes finalize a block. */
  finalizes: boolean;
  /** What it does to every so-manieth delivery of events of these types. */
  misdelivers: { types: readonly string[]; every: number; does: Misdelivery } | null;
  /** Verifies each signature, and keeps what is wrong in `Record.wrong`. */
  checks: boolean;
}

/** One request. Times are milliseconds since 1970, with decimals. */
export interface Received {
  route: Route;
  atMs: number;
  treatment: Treatment;
  /** When it was to be answered. */
  dueAtMs: number;
  /** When the answer, or what took its place, began to be written; null where nothing was. */
  answeredAtMs: number | null;
  /** Of the answer; 0 without one. */
  status: number;
}

export interface Record {
  requests: Received[];
  /** Of events, to subscribers, by type; and those left out or sent twice. */
  delivered: { [type: string]: number };
  misdelivered: number;
  /** WebSockets opened, authenticated, and closed by the server. */
  sockets: { opened: number; authenticated: number; closed: number };
  /** Final blocks with the time of the vote that finalized each, and their transactions. */
  finalized: { hash: string; atMs: number; transactions: number }[];
  /** Signatures that were verified, and by how many keys. */
  signatures: number;
  keys: number;
  /** What is not as the protocol wants it: a bad signature, a message that came twice. */
  wrong: string[];
}

/** What a test asks of the process, and what it says. */
export type Asked = 'record';
export type Said = { port: number } | { record: Record };

/** Of this process, on a clock that other processes share. */
export const nowMs = () => performance.timeOrigin + performance.now();
