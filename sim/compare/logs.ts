/** Where the logs of two runs part: the first entry, whose it is, and the field that differs. */
import { type Entry, type EntryKind, type LogLine, targetId } from '../../engine/internal.js';
import { type JsonDifference, jsonDifference } from './json.js';

/** Where two logs part. */
export interface LogDifference extends JsonDifference {
  seq: number;
  /** Of the first run's entry; of the other's where the first has none. */
  kind: EntryKind;
  /** Who sent it, and about which block or alliance. */
  actor: string;
  /** The same of the other run's entry, where it is of somebody else. */
  other?: string;
}

/**
 * Null when both logs and all their digests are the same. The path `digest` means that the entries
 * are the same and what followed from this one is not: its events, or the records that it changed.
 */
export function firstDivergence(
  linesA: Iterable<LogLine>,
  linesB: Iterable<LogLine>,
): LogDifference | null {
  const names = new Map<string, string>();
  const others = linesB[Symbol.iterator]();
  for (const line of linesA) {
    const other = others.next();
    noteName(names, line.entry);
    const found = jsonDifference(shape(line), other.done ? undefined : shape(other.value));
    if (!found) continue;
    if (!other.done) noteName(names, other.value.entry);
    return about([line.entry, other.done ? null : other.value.entry], names, found);
  }
  const other = others.next();
  if (other.done) return null;
  const { entry } = other.value;
  noteName(names, entry);
  return about([entry, null], names, { path: '', a: 'nothing', b: `an entry ${entry.kind}` });
}

function about(
  [entry, other]: readonly [Entry, Entry | null],
  names: ReadonlyMap<string, string>,
  found: JsonDifference,
): LogDifference {
  const { seq, kind } = entry;
  const whole = found.path === '' && found.b === 'nothing';
  const difference = whole ? { ...found, a: `an entry ${kind}` } : found;
  const [actor, others] = [actorOf(entry, names), other && actorOf(other, names)];
  const parted = others === null || others === actor ? {} : { other: others };
  return { seq, kind, actor, ...parted, ...difference };
}

/** In the order in which differences say most: a signature only follows from what it signs. */
function shape({ entry, logDigest, digest }: LogLine) {
  const { kind, public_key, target, at, timestamp, signature } = entry;
  const body = bodyOf(entry);
  // The same JSON may be written in two ways.
  const text = Buffer.from(entry.body).toString();
  return { kind, public_key, target, at, timestamp, body, text, signature, logDigest, digest };
}

function bodyOf({ body }: Entry): unknown {
  const text = Buffer.from(body).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function noteName(names: Map<string, string>, entry: Entry): void {
  if (entry.kind !== 'register') return;
  const { name } = bodyOf(entry) as { name?: unknown };
  names.set(entry.public_key, String(name));
}

function actorOf(entry: Entry, names: ReadonlyMap<string, string>): string {
  const { kind, public_key, target } = entry;
  if (kind === 'genesis') return 'genesis';
  if (kind === 'tick') return 'a deadline';
  const name = names.get(public_key) ?? 'an agent';
  const { block_hash } = bodyOf(entry) as { block_hash?: unknown };
  const id = targetId(kind, target);
  const subject = typeof block_hash === 'string' ? `block ${block_hash}` : id;
  return `${name} (key ${public_key})${subject ? ` on ${subject}` : ''}`;
}

/** Events as a store gives them. */
export type StoredEvents = Iterable<{ seq: number; json: string }>;

/** Where the events of two logs part. */
export interface EventDifference extends JsonDifference {
  seq: number;
  type: string;
}

/** The first event that differs, and where in it. */
export function firstEventDivergence(
  eventsA: StoredEvents,
  eventsB: StoredEvents,
): EventDifference | null {
  const others = eventsB[Symbol.iterator]();
  for (const { seq, json } of eventsA) {
    const other = others.next();
    if (!other.done && other.value.json === json) continue;
    const event = JSON.parse(json) as { type: string };
    const found = jsonDifference(event, other.done ? undefined : JSON.parse(other.value.json));
    if (found) return { seq, type: event.type, ...found };
  }
  const other = others.next();
  if (other.done) return null;
  const { seq, json } = other.value;
  const { type } = JSON.parse(json) as { type: string };
  return { seq, type, path: '', a: 'nothing', b: json };
}
