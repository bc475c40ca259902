/** Steps as bytes: canonical JSON of events and records, made once for digest, disk and readers. */
import { stringify } from 'safe-stable-stringify';
import type { Step } from './core/index.js';
import type { EventType } from './schema/index.js';
import type { RecordChange } from './store/store.js';

/**
 * Canonical JSON of what the engine made itself. For such values (no lone surrogates) this is the
 * text of RFC 8785, in a third of the time of the library that signing uses; a test compares them.
 * What is made with its members in order, as frequent things are, takes the platform's own way:
 * less time, and a text of one piece where the other gives a tree of many.
 */
export function canonical(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : (stringify(value) as string);
}

function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let before = '';
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (key < before || (typeof member === 'object' && !isInOrder(member))) return false;
    before = key;
  }
  return true;
}

/** An event with its text: encoded once for everybody who is told. */
export interface ToldEvent {
  seq: number;
  type: EventType;
  json: string;
}

export interface EncodedStep {
  events: ToldEvent[];
  changes: RecordChange[];
  /** What the digest covers, in order. */
  results: string[];
}

export function encodeStep(step: Step): EncodedStep {
  const events = step.events.map((event) => ({
    seq: event.seq,
    type: event.type,
    json: canonical(event),
  }));
  const changes = step.changes.map(({ table, key, value }) => ({
    table,
    key,
    json: value === null ? null : canonical(value),
  }));
  const results = [
    ...events.map(({ json }) => json),
    // Canonical JSON of an array is that of its members: the value is not encoded twice.
    ...changes.map(
      ({ table, key, json }) => `[${canonical(table)},${canonical(key)},${json ?? 'null'}]`,
    ),
  ];
  return { events, changes, results };
}
