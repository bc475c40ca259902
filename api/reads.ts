/** The reads: what is committed, shown. Each gives its data, or says what is unknown. */
import {
  BlockStatus,
  limits as bounds,
  type EventType,
  eventTopics,
  type Network,
  type Reason,
  type Refusal,
  refuse,
} from '../engine/index.js';
import { readable } from './damage.js';

export interface Read {
  network: Network;
  /** Path parameters, decoded, in order. */
  params: readonly string[];
  query: URLSearchParams;
}

export type ReadResult = { data: unknown } | { refusal: Refusal };

const unknown = (reason: Reason, what: string, id: string): ReadResult => ({
  refusal: refuse(reason, `no ${what} ${id.slice(0, 128)}`),
});

const found = (data: unknown, otherwise: ReadResult): ReadResult =>
  data === undefined ? otherwise : { data };

/** A whole number of the query, its default, or null when it is none. */
function number(query: URLSearchParams, name: string, otherwise: number): number | null {
  const text = query.get(name);
  if (text === null) return otherwise;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function badQuery(name: string, expected: string): ReadResult {
  const message = `the query parameter ${name} is not ${expected}`;
  return { refusal: refuse('SCHEMA', message, { pointer: `/${name}` }) };
}

function page<T>(rows: Iterable<T>, limit: number): { rows: T[]; more: boolean } {
  const taken: T[] = [];
  for (const row of rows) {
    if (taken.length === limit) return { rows: taken, more: true };
    taken.push(row);
  }
  return { rows: taken, more: false };
}

/** Rows of a page that says nothing else. */
export const DEFAULT_ROWS = 100;

function rowsOf(query: URLSearchParams, otherwise = DEFAULT_ROWS): number | null {
  const limit = number(query, 'limit', otherwise);
  return limit !== null && limit >= 1 && limit <= bounds.pageRows ? limit : null;
}

const expectedRows = `a whole number from 1 to ${bounds.pageRows}`;

export function state({ network }: Read): ReadResult {
  return { data: network.read.networkState() };
}

export function agents({ network, query }: Read): ReadResult {
  const list = network.read.activeAgents();
  if (!query.has('limit')) return { data: list };
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const { validators, producers } = list;
  return { data: { validators: validators.slice(0, limit), producers: producers.slice(0, limit) } };
}

export function reputation({ network, params: [id = ''] }: Read): ReadResult {
  return found(network.read.reputation(id), unknown('UNKNOWN_AGENT', 'agent has the id', id));
}

export function agent({ network, params: [id = ''] }: Read): ReadResult {
  return found(network.read.agent(id), unknown('UNKNOWN_AGENT', 'agent has the id', id));
}

const statuses: readonly string[] = BlockStatus.enum;

export function blocks({ network, query }: Read): ReadResult {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const before = query.has('cursor') ? number(query, 'cursor', 0) : undefined;
  if (before === null) return badQuery('cursor', 'a next_cursor');
  const status = query.get('status') as BlockStatus | null;
  if (status !== null && !statuses.includes(status)) {
    return badQuery('status', `one of ${statuses.join(', ')}`);
  }
  const { rows, more } = page(matching(network, status, before), limit);
  const last = rows.at(-1)?.ordinal;
  const shown = rows.map(({ ordinal: _, ...block }) => block);
  return { data: { blocks: shown, next_cursor: more ? String(last) : null } };
}

function* matching(network: Network, status: BlockStatus | null, before: number | undefined) {
  for (const block of network.read.blocks(before)) {
    if (status === null || block.status === status) yield block;
  }
}

export function block({ network, params: [hash = ''] }: Read): ReadResult {
  const view = network.read.block(hash.toLowerCase());
  const record = network.read.record('blocks', hash.toLowerCase());
  if (!view || !record) return unknown('UNKNOWN_BLOCK', 'block has the hash', hash);
  const { public_key, body } = network.read.signed(record.context.entry);
  return { data: { ...view, proposal: body, public_key: public_key.toLowerCase() } };
}

export function votes({ network, params: [hash = ''], query }: Read): ReadResult {
  const record = network.read.record('blocks', hash.toLowerCase());
  if (!record) return unknown('UNKNOWN_BLOCK', 'block has the hash', hash);
  const limit = rowsOf(query, bounds.pageRows);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = number(query, 'cursor', -1);
  if (after === null) return badQuery('cursor', 'a next_cursor');
  const { ordinal, electorate } = record.context;
  const from = [ordinal, after + 1];
  const { rows, more } = page(network.read.records('votes', { from, to: [ordinal + 1] }), limit);
  const last = rows.at(-1)?.key as readonly number[] | undefined;
  return {
    data: {
      block_hash: hash.toLowerCase(),
      electorate: network.read.electors(electorate),
      votes: rows.map(({ value }) => {
        const { public_key, body } = network.read.signed(value.entry);
        return { public_key: public_key.toLowerCase(), vote: body };
      }),
      next_cursor: more ? String(last![1]) : null,
    },
  };
}

export function transactions({ network, params: [hash = ''] }: Read): ReadResult {
  const key = hash.toLowerCase();
  const range = { from: [key], to: [`${key}0`] };
  const rows = /^[0-9a-f]{64}$/.test(key) ? [...network.read.records('transactions', range)] : [];
  if (rows.length === 0) return unknown('UNKNOWN_TX', 'final transaction has the hash', hash);
  const signers = rows.map(({ key: row, value }) => ({
    signer: (row as readonly [string, string])[1],
    ...value,
  }));
  return { data: { hash: key, status: 'finalized', signers } };
}

export function stateValue({ network, params: [key = ''] }: Read): ReadResult {
  const record = /^[\x21-\x7e]{1,128}$/.test(key) ? network.read.record('state', key) : undefined;
  return found(
    record && { key, ...record },
    unknown('UNKNOWN_KEY_NAME', 'state is kept under', key),
  );
}

export function alliances({ network, query }: Read): ReadResult {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = query.get('cursor');
  const from = after === null ? {} : { from: `${after}0` };
  const { rows, more } = page(network.read.alliances(from), limit);
  return { data: { alliances: rows, next_cursor: more ? rows.at(-1)!.alliance_id : null } };
}

const topicsKnown = new Set(Object.values(eventTopics).flat());

export function events({ network, query }: Read): ReadResult {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = number(query, 'after', 0);
  if (after === null) return badQuery('after', 'the seq of an event');
  const topics = query.get('topics')?.split(',') ?? [...topicsKnown];
  if (!topics.every((topic) => topicsKnown.has(topic))) {
    return badQuery('topics', `a list of ${[...topicsKnown].join(', ')}`);
  }
  const head = network.read.position.event_seq;
  const about = (type: EventType) => eventTopics[type].some((topic) => topics.includes(topic));
  const chosen = [];
  let seq = after;
  const last = Math.min(head, after + SCANNED);
  for (const event of readable(network.read.events(after + 1, last))) {
    if (chosen.length === limit) break;
    seq = event.seq;
    if (about(event.type)) chosen.push(event);
  }
  const { epoch } = network;
  return {
    data: { events: chosen, epoch, last_seq: head, next_cursor: seq < head ? `${seq}` : null },
  };
}

/** Events that one page of /events looks through at the most. */
const SCANNED = 10_000;
