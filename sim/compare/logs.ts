/**
 * The first place at which two runs part: in two JSON values, in their logs and events, and in two
 * kept folders, with the actor and the field that differs.
 */

import { join } from 'node:path';
import { type Entry, type EntryKind, targetId } from '../../engine/protocol/schema/entry.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import type { LogLine } from '../../engine/replay/recompute.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import type { Store } from '../../engine/store/store.js';

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

/** Where two JSON values part. */
export interface JsonDifference {
  /** As `scenario.agents.0.count`; '' for the whole. */
  path: string;
  /** JSON texts, cut where they are long; `nothing` where only the other one is there. */
  a: string;
  b: string;
}

/** The first place where two JSON values part, or null. */
export function jsonDifference(a: unknown, b: unknown, path = ''): JsonDifference | null {
  if (Object.is(a, b)) return null;
  if (!isTree(a) || !isTree(b) || Array.isArray(a) !== Array.isArray(b)) {
    return { path, a: jsonText(a), b: jsonText(b) };
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = jsonDifference(a[key], b[key], path === '' ? key : `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

const LONGEST = 120;

function jsonText(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 3)}...`;
}

/** Where two runs part. */
export interface RunDifference {
  /** The first entry that differs; absent where all are the same. */
  seq?: number;
  /** The first entry that differs, or what does where all entries are the same. */
  where: string;
  /**
   * From the outside in: `by` (whose entry it is; also in the other run, where that differs),
   * `event`, `field`, and under the name of each run what it has there.
   */
  details: Record<string, string>;
}

/** A kept run, and what it is called. */
export interface Side {
  name: string;
  folder: string;
}

/** What parts two runs whose digests differ. */
export async function requireDifference(a: Side, b: Side): Promise<RunDifference> {
  return (
    (await findDifference(a, b)) ?? {
      where: 'only the digests of the whole runs differ',
      details: {},
    }
  );
}

/** Null where all entries and digests are the same. */
export async function findDifference(a: Side, b: Side): Promise<RunDifference | null> {
  const stores = [openRunStore(a), openRunStore(b)] as const;
  try {
    const entry = firstDivergence(...both(stores, (store) => storedLines(store, 0, last(store))));
    if (!entry) return null;
    const { seq } = entry;
    const where = `entry ${seq} (${entry.kind})`;
    const values = (found: { a: string; b: string }) => ({ [a.name]: found.a, [b.name]: found.b });
    if (entry.path !== 'digest') {
      const { actor, other } = entry;
      const who = other === undefined ? {} : { [`by, ${b.name}`]: other };
      const details = { by: actor, ...who, field: entry.path || 'the entry', ...values(entry) };
      return { seq, where, details };
    }
    const event = firstEventDivergence(
      ...both(stores, (store) => store.events(1, lastEvent(store))),
    );
    if (!event) {
      const field = 'the records that it changed; all events are the same';
      return { seq, where, details: { by: entry.actor, field, ...values(entry) } };
    }
    const named = `${event.seq} (${event.type})`;
    const details = { by: entry.actor, event: named, field: event.path, ...values(event) };
    return { seq, where: `${where}: the entry is the same, what followed is not`, details };
  } finally {
    for (const store of stores) await store.close();
  }
}

/** Read-only; to be closed. */
export const openRunStore = ({ folder }: Pick<Side, 'folder'>): Store =>
  openLmdbStore({
    path: join(folder, 'network'),
    tables,
    schemaVersion: SCHEMA_VERSION,
    readOnly: true,
  });

const last = (store: Store): number => store.meta()!.seq;
const lastEvent = (store: Store): number => store.meta()!.event_seq;

function both<T>([a, b]: readonly [Store, Store], of: (store: Store) => T): [T, T] {
  return [of(a), of(b)];
}
