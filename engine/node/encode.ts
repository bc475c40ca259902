/** Encodes a step as canonical JSON, once for the digest, the disk and the subscribers. */
import type { Step } from '../core/engine.js';
import type { Event, EventType } from '../protocol/schema/event.js';
import type { BlockStatus } from '../protocol/schema/primitives.js';
import { encodeKey, type RecordChange } from '../store/store.js';
import { eventEncoders, recordEncoders } from './bundled/encoders.js';

/** An event encoded as JSON. */
export interface EncodedEvent {
  seq: number;
  type: EventType;
  json: string;
}

/** An event as published to followers. */
export interface PublishedEvent extends EncodedEvent {
  /** The block's final status, if the event closes a block; otherwise null. */
  status: BlockStatus | null;
  /** The event itself, if it is available without parsing. */
  event?: Event;
}

/** An encoded step. */
export interface EncodedStep {
  events: PublishedEvent[];
  changes: RecordChange[];
  /** Texts that the digest covers, in order. */
  results: string[];
}

const statusOf = (event: Event) => (event.type === 'block_status' ? event.data.status : null);

/** Encodes a step's events and changed records as canonical JSON, once for all uses. */
export function encodeStep(step: Step): EncodedStep {
  const events: PublishedEvent[] = [];
  const changes: RecordChange[] = [];
  const results: string[] = [];
  for (const event of step.events) {
    const { seq, type } = event;
    const json = eventEncoders[type](event);
    events.push({ seq, type, json, status: statusOf(event), event });
    results.push(json);
  }
  for (const { table, key, value } of step.changes) {
    const json = value === null ? null : recordEncoders[table](value);
    changes.push({ table, key, json });
    // Builds the canonical JSON of [table, key, value] without encoding the value twice. Table
    // names need no escapes, and keys are strings, numbers or arrays of strings and numbers.
    results.push(`["${table}",${encodeKey(key)},${json ?? 'null'}]`);
  }
  return { events, changes, results };
}
