/** Where what was stored and what follows from the entries part. */

/** The first place where what was stored and what follows from the entries part. */
export interface Divergence {
  seq: number;
  kind: string;
  what: 'entry' | 'signature' | 'outcome' | 'event' | 'record' | 'log_digest' | 'digest' | 'end';
  /** Which one, where there are several: an event's number, a record's table and key. */
  which?: string;
  expected: string;
  found: string;
}
