/** Steps as bytes: canonical JSON of events and records, made once for digest, disk and readers. */
import type { Step } from './core/index.js';
import { jcs } from './signing.js';
import type { RecordChange } from './store/store.js';

export interface EncodedStep {
  events: { seq: number; json: string }[];
  changes: RecordChange[];
  /** What the digest covers, in order. */
  results: string[];
}

export function encodeStep(step: Step): EncodedStep {
  const events = step.events.map((event) => ({ seq: event.seq, json: jcs(event) }));
  const changes = step.changes.map(({ table, key, value }) => ({
    table,
    key,
    json: value === null ? null : jcs(value),
  }));
  const results = [
    ...events.map(({ json }) => json),
    // Canonical JSON of an array is that of its members: the value is not encoded twice.
    ...changes.map(({ table, key, json }) => `[${jcs(table)},${jcs(key)},${json ?? 'null'}]`),
  ];
  return { events, changes, results };
}
