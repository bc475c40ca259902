/** Encodes a step as canonical JSON, once for the digest, the disk and the subscribers. */
import type { Change } from '../core/changes.js';
import type { Step } from '../core/engine.js';
import type { Event, EventType } from '../protocol/schema/event.js';
import type { BlockStatus } from '../protocol/schema/primitives.js';
import { encodeKey } from '../store/store.js';
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
  changes: readonly Change[];
  /** Texts that the digest covers, in order. */
  results: string[];
}

const statusOf = (event: Event) => (event.type === 'block_status' ? event.data.status : null);

/** Encodes a step's events and changed records as canonical JSON, once for all uses. */
export function encodeStep({ events: emitted, changes }: Step): EncodedStep {
  const count = emitted.length;
  const events = new Array<PublishedEvent>(count);
  const results = new Array<string>(count + changes.length);
  for (let at = 0; at < count; at += 1) {
    const event = encodeEvent(emitted[at]!);
    events[at] = event;
    results[at] = event.json;
  }
  for (let at = 0; at < changes.length; at += 1) {
    const change = changes[at]!;
    const { table, value } = change;
    change.json = value === null ? null : recordEncoders[table](value);
    results[count + at] = toResult(change);
  }
  return { events, changes, results };
}

function encodeEvent(event: Event): PublishedEvent {
  const { seq, type } = event;
  return { seq, type, json: eventEncoders[type](event), status: statusOf(event), event };
}

/**
 * Builds the canonical JSON of [table, key, value] without encoding the value twice. Table names
 * need no escapes, and keys are strings, numbers or arrays of strings and numbers.
 */
const toResult = ({ table, key, json }: Change): string =>
  `["${table}",${encodeKey(key)},${json ?? 'null'}]`;
