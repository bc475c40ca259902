/** Steps as bytes: canonical JSON of events and records, made once for digest, disk and readers. */
import type { Step } from '../core/engine.js';
import { canonical } from '../protocol/canonical.js';
import type { Event, EventType } from '../protocol/schema/event.js';
import type { BlockStatus } from '../protocol/schema/primitives.js';
import type { RecordChange } from '../store/store.js';

/** An event with its text: encoded once for all subscribers. */
export interface EncodedEvent {
  seq: number;
  type: EventType;
  json: string;
}

/** An event as followers get it. */
export interface PublishedEvent extends EncodedEvent {
  /** Of a block that left voting, what became of it. */
  status: BlockStatus | null;
  /** The event itself, where it was at hand: whoever needs it parses nothing. */
  event?: Event;
}

/** A step as bytes: what is stored, sent and covered by the digest. */
export interface EncodedStep {
  events: PublishedEvent[];
  changes: RecordChange[];
  /** What the digest covers, in order. */
  results: string[];
}

const statusOf = (event: Event) => (event.type === 'block_status' ? event.data.status : null);

/** Encodes what one entry did: canonical JSON of its events and changed records. */
export function encodeStep(step: Step): EncodedStep {
  const events: PublishedEvent[] = [];
  const changes: RecordChange[] = [];
  const results: string[] = [];
  for (const event of step.events) {
    const { seq, type } = event;
    const json = canonical(event);
    events.push({ seq, type, json, status: statusOf(event), event });
    results.push(json);
  }
  for (const { table, key, value } of step.changes) {
    const json = value === null ? null : canonical(value);
    changes.push({ table, key, json });
    // Canonical JSON of an array is that of its members: the value is not encoded twice. Nothing in
    // the name of a table needs an escape, and a key is a text, a number or an array of them.
    results.push(`["${table}",${JSON.stringify(key)},${json ?? 'null'}]`);
  }
  return { events, changes, results };
}
