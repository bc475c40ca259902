/** Finds the first difference between two logs, the events in two logs, or two saved runs. */
import { join } from 'node:path';
import { type JsonDifference, jsonDifference } from '../../engine/protocol/canonical.js';
import { type Entry, type EntryKind, targetId } from '../../engine/protocol/schema/entry.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import type { LogLine } from '../../engine/replay/recompute.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import type { Store } from '../../engine/store/store.js';

/** First difference between two logs. */
export interface LogDifference extends JsonDifference {
  seq: number;
  /** Entry kind in the first run, or in the second run if the first has no such entry. */
  kind: EntryKind;
  /** Entry's sender, and the block or alliance concerned. */
  actor: string;
  /** Sender in the second run, if different. */
  other?: string;
}

/**
 * Returns the first different entry, or null if both logs and all digests are identical. The path
 * `digest` means that the entries are identical, but their effects (events or records) differ.
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
  return about([entry, null], names, { path: '', a: 'nothing', b: `entry ${entry.kind}` });
}

function about(
  [entry, other]: readonly [Entry, Entry | null],
  names: ReadonlyMap<string, string>,
  found: JsonDifference,
): LogDifference {
  const { seq, kind } = entry;
  const whole = found.path === '' && found.b === 'nothing';
  const difference = whole ? { ...found, a: `entry ${kind}` } : found;
  const [actor, others] = [actorOf(entry, names), other && actorOf(other, names)];
  const parted = others === null || others === actor ? {} : { other: others };
  return { seq, kind, actor, ...parted, ...difference };
}

/** Lists members by significance. The signature follows the members that it covers. */
function shape({ entry, logDigest, digest }: LogLine) {
  const { kind, public_key, target, at, timestamp, signature } = entry;
  const body = bodyOf(entry);
  // Equal JSON values can have different text.
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

/** Events read from a store. */
export type StoredEvents = Iterable<{ seq: number; json: string }>;

/** First difference between two logs' events. */
export interface EventDifference extends JsonDifference {
  seq: number;
  type: string;
}

/** Returns the first different event with the path of the difference, or null. */
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

/** First difference between two runs. */
export interface RunDifference {
  /** Sequence number of the first different entry; absent if all entries are identical. */
  seq?: number;
  /** First different entry, or a description if all entries are identical. */
  where: string;
  /**
   * Ordered details: `by` (the sender, plus the other run's sender if different), `event`, `field`,
   * and each run's value under the run's name.
   */
  details: Record<string, string>;
}

export interface Side {
  name: string;
  folder: string;
}

/** Returns the difference between two runs with different digests. */
export async function requireDifference(a: Side, b: Side): Promise<RunDifference> {
  return (
    (await findDifference(a, b)) ?? { where: 'only the digests of the runs differ', details: {} }
  );
}

/** Returns null if all entries and digests are identical. */
export async function findDifference(a: Side, b: Side): Promise<RunDifference | null> {
  const stores = [openRunStore(a), openRunStore(b)] as const;
  try {
    const lines = stores.map((store) => storedLines(store, 0, store.meta()!.seq));
    const entry = firstDivergence(lines[0]!, lines[1]!);
    if (!entry) return null;
    const { seq } = entry;
    const where = `entry ${seq} (${entry.kind})`;
    const values = (found: { a: string; b: string }) => ({ [a.name]: found.a, [b.name]: found.b });
    if (entry.path !== 'digest') {
      const { actor, other } = entry;
      const who = other === undefined ? {} : { [`by, ${b.name}`]: other };
      const details = { by: actor, ...who, field: entry.path || 'entry', ...values(entry) };
      return { seq, where, details };
    }
    const events = stores.map((store) => store.events(1, store.meta()!.event_seq));
    const event = firstEventDivergence(events[0]!, events[1]!);
    if (!event) {
      const field = 'records (all events are the same)';
      return { seq, where, details: { by: entry.actor, field, ...values(entry) } };
    }
    const named = `${event.seq} (${event.type})`;
    const details = { by: entry.actor, event: named, field: event.path, ...values(event) };
    return { seq, where: `${where}: same entry, different effects`, details };
  } finally {
    for (const store of stores) await store.close();
  }
}

/** Reads the store of a saved run, and closes it. */
export async function withRunStore<T>(
  folder: string,
  read: (store: Store) => T | Promise<T>,
): Promise<T> {
  const store = openRunStore({ folder });
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Opens the store read-only. The caller closes it. */
const openRunStore = ({ folder }: Pick<Side, 'folder'>): Store =>
  openLmdbStore({
    path: join(folder, 'network'),
    tables,
    schemaVersion: SCHEMA_VERSION,
    readOnly: true,
  });
