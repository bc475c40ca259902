/**
 * Parses the results of entries, which are events and changed records (docs/protocol.md, sections
 * 10 and 17). A forger can compute digests for any results, so contradictory results are refused
 * here.
 */
import { canonical } from '../protocol/canonical.js';
import { parseJson } from '../protocol/json.js';
import { agentId } from '../protocol/signing.js';
import { CertificateError } from './format.js';

export type Members = Readonly<Record<string, unknown>>;

interface CertifiedEvent {
  seq: number;
  type: string;
  data: Members;
}

export interface CertifiedRecord {
  table: string;
  key: unknown;
  /** Canonical JSON of the table and the key. */
  id: string;
  /** Null for a deleted record. */
  value: unknown;
}

export interface Results {
  events: readonly CertifiedEvent[];
  records: readonly CertifiedRecord[];
}

/** The part of an entry that the checks on results need. */
interface Done {
  span: number;
  where: string;
  results: Results;
}

const eventTypes = new Set([
  ...['agent_status', 'alliance_update', 'block_proposal', 'block_status', 'block_validation'],
  ...['consensus_discussion', 'meme_posted', 'network_metrics', 'reputation_update'],
]);

/** Tables in which each key is written only once. */
const writtenOnce = ['agents', 'equivocations', 'memes', 'transactions', 'votes'];

/** Tables keyed by consecutive numbers in log order, with the first number. */
const countedFrom: Readonly<Record<string, number>> = {
  agent_numbers: 0,
  block_numbers: 0,
  electorates: 0,
  heights: 1,
};

/** Tables in which an entry changes at most one record. */
const single = new Set([
  ...['agents', 'agent_numbers', 'block_numbers', 'electorates', 'equivocations', 'heights'],
  ...['memes', 'votes'],
]);

const tables = new Set([
  ...['agent_states', 'alliances', 'blocks', 'network', 'open', 'requests', 'standings', 'state'],
  ...writtenOnce,
  ...Object.keys(countedFrom),
]);

/** Formats a value for an error message: one line, at most 100 characters. */
export function formatValue(value: unknown): string {
  const longest = 100;
  if (typeof value !== 'object' || value === null) return String(value).slice(0, longest);
  return JSON.stringify(value).slice(0, longest);
}

/** Formats engine time in the form that events use. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** @throws {CertificateError} */
export function parseObject(value: unknown, where: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new CertificateError(where, 'NO_OBJECT_IN_RESULT', { value: formatValue(value) });
}

/**
 * Parses the results of one entry.
 * @throws {CertificateError} unless the results are events followed by records, without duplicates
 *   and in canonical JSON.
 */
export function parseResults(texts: readonly string[], where: string): Results {
  const events: CertifiedEvent[] = [];
  const records: CertifiedRecord[] = [];
  const known = new Set<string>();
  for (const [index, text] of texts.entries()) {
    const place = `${where}/results/${index}`;
    const parsed = parseJson(text);
    if ('message' in parsed) {
      throw new CertificateError(place, 'BAD_JSON', { problem: parsed.message });
    }
    const { value } = parsed;
    if (canonical(value) !== text) throw new CertificateError(place, 'NOT_CANONICAL');
    if (Array.isArray(value)) {
      const record = recordOf(value, place);
      const what = single.has(record.table) ? record.table : record.id;
      if (known.has(what)) throw new CertificateError(place, 'CHANGED_TWICE', { what });
      known.add(what);
      records.push(record);
    } else if (records.length > 0) throw new CertificateError(place, 'EVENT_AFTER_RECORD');
    else events.push(eventOf(value, place));
  }
  return { events, records };
}

function recordOf(found: readonly unknown[], where: string): CertifiedRecord {
  const [table, key, value] = found;
  const isRecord = found.length === 3 && typeof table === 'string' && tables.has(table);
  if (!isRecord || typeof value !== 'object') {
    throw new CertificateError(where, 'NOT_A_RECORD');
  }
  return { table, key, id: `${table} ${canonical(key)}`, value };
}

function eventOf(value: unknown, where: string): CertifiedEvent {
  const { data, seq, type, ...more } = parseObject(value, where);
  const isEvent = typeof type === 'string' && eventTypes.has(type) && Number.isSafeInteger(seq);
  if (!isEvent || Object.keys(more).length > 0) {
    throw new CertificateError(where, 'NOT_AN_EVENT');
  }
  return { seq: seq as number, type, data: parseObject(data, where) };
}

/** Finds the changed record in a table, optionally by key. */
export function findRecord(
  { results }: Pick<Done, 'results'>,
  table: string,
  key?: unknown,
): CertifiedRecord | undefined {
  const id = key === undefined ? undefined : `${table} ${canonical(key)}`;
  return results.records.find((one) => one.table === table && (id === undefined || one.id === id));
}

/** Finds all events with a given type about a block, with their entries. */
export function findBlockEvents<E extends Done>(
  entries: readonly E[],
  type: string,
  block: string,
): { entry: E; data: Members }[] {
  return entries.flatMap((entry) =>
    entry.results.events.flatMap(({ type: found, data }) =>
      found === type && data.block_hash === block ? [{ entry, data }] : [],
    ),
  );
}

/** Agents named in results. */
export interface CertifiedAgents {
  ids: ReadonlyMap<number, string>;
  ordinals: ReadonlyMap<string, number>;
  /** By agent id. */
  personalities: ReadonlyMap<string, unknown>;
}

/**
 * Compares the results of all entries with one another.
 * @throws {CertificateError} if two results cannot come from the same log.
 */
export function assertConsistent(entries: readonly Done[]): CertifiedAgents {
  const once = new Set<string>();
  const count = new Counter();
  const blocks = new Map<string, unknown>();
  const ids = new Map<number, string>();
  const ordinals = new Map<string, number>();
  const personalities = new Map<string, unknown>();
  for (const { span, where, results } of entries) {
    for (const { seq, type, data } of results.events) {
      count.next('events', seq, span, where);
      const member = named[type];
      if (member !== undefined) assertPersonality(personalities, data[member], where);
    }
    for (const { table, key, id, value } of results.records) {
      if (Object.hasOwn(countedFrom, table)) count.next(table, key, span, where);
      if (writtenOnce.includes(table)) {
        if (once.has(id)) throw new CertificateError(where, 'WRITTEN_TWICE', { id });
        once.add(id);
      }
      if (table === 'blocks') assertNextState(blocks, id, parseObject(value, where).state, where);
    }
    const agent = agentIn(results, where);
    if (!agent) continue;
    ids.set(agent.ordinal, agent.id);
    ordinals.set(agent.id, agent.ordinal);
    assertPersonality(personalities, agent, where);
  }
  return { ids, ordinals, personalities };
}

/** Event member that names an agent alongside its personality, by event type. */
const named: Readonly<Record<string, string>> = {
  block_validation: 'validator',
  consensus_discussion: 'agent',
  meme_posted: 'creator',
};

/** Checks that numbers are consecutive in a span and increase between spans. */
class Counter {
  readonly #last = new Map<string, { number: number; span: number }>();

  next(what: string, number: unknown, span: number, where: string): void {
    const first = what === 'events' ? 1 : countedFrom[what]!;
    const last = this.#last.get(what);
    const next = last === undefined ? first : last.number + 1;
    // Spans are separated by missing entries.
    const isGap = span > (last?.span ?? 0);
    const isNext = isGap ? Number(number) >= next : number === next;
    if (!Number.isSafeInteger(number) || !isNext) {
      const expected = `${isGap ? 'at least ' : ''}${next}`;
      const found = formatValue(number);
      throw new CertificateError(where, 'NUMBER_ORDER', { what, found, expected });
    }
    this.#last.set(what, { number: number as number, span });
  }
}

/** Asserts that a block opens once and closes once. */
function assertNextState(
  blocks: Map<string, unknown>,
  id: string,
  state: unknown,
  where: string,
): void {
  const before = blocks.get(id);
  const isFirst = state === 'voting' && !blocks.has(id);
  const isEnd = typeof state === 'string' && state !== 'voting';
  const isNext = isFirst || (isEnd && (before === undefined || before === 'voting'));
  if (!isNext) {
    const change = { before: formatValue(before), state: formatValue(state) };
    throw new CertificateError(where, 'BLOCK_STATE', { id, ...change });
  }
  blocks.set(id, state);
}

function assertPersonality(known: Map<string, unknown>, agent: unknown, where: string): void {
  const { id, personality } = parseObject(agent, where);
  if (typeof id !== 'string' || typeof personality !== 'string') {
    throw new CertificateError(where, 'NO_AGENT_IN_RESULT', { value: formatValue(agent) });
  }
  const before = known.get(id);
  if (before !== undefined && before !== personality) {
    const [then, now] = [formatValue(before), formatValue(personality)];
    const change = { id: formatValue(id), before: then, personality: now };
    throw new CertificateError(where, 'PERSONALITY_CHANGED', change);
  }
  known.set(id, personality);
}

/** Returns the agent that an entry registers. The agent's two records must agree. */
function agentIn(results: Results, where: string) {
  const profile = findRecord({ results }, 'agents');
  const number = findRecord({ results }, 'agent_numbers');
  if (!profile && !number) return null;
  const { agent_id, ordinal, public_key, personality } = parseObject(profile?.value, where);
  const isSame =
    typeof public_key === 'string' &&
    agent_id === agentId(public_key) &&
    agent_id === profile?.key &&
    ordinal === number?.key &&
    canonical(number?.value) === canonical({ agent_id });
  if (!isSame) throw new CertificateError(where, 'AGENT_RECORDS');
  return { id: agent_id as string, ordinal: ordinal as number, personality };
}
