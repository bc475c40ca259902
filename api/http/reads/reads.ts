/** The reads: what is committed, shown. Each gives its data, or a refusal of what is unknown. */
import {
  BlockStatus,
  limits as bounds,
  type EventType,
  eventTopics,
  type ServedNetwork,
} from '../../../engine/internal.js';
import { readable } from '../../checks/damaged-archive.js';
import { serverBounds } from '../../contract/limit-table.js';
import { inSlices, type Sliced } from '../../slices.js';
import {
  badQuery,
  expectedCursor,
  expectedRows,
  number,
  pathProblem,
  type ReadResult,
  rowsOf,
  unknown,
} from './parameters.js';

export interface ReadRequest {
  network: ReadNetwork;
  /** Path parameters, decoded, in order. */
  params: readonly string[];
  query: URLSearchParams;
}

/** What is read: a network as it is, or as it was. */
type ReadNetwork = Pick<ServedNetwork, 'read' | 'epoch'>;

/** A long one pauses where it yields; what it reads after that must not have changed. */
export type Read = (request: ReadRequest) => ReadResult | Sliced<ReadResult>;

/** The result of a read: immediate when the read is short. */
export function resultOf(read: Read, request: ReadRequest): ReadResult | Promise<ReadResult> {
  const result = read(request);
  return Symbol.iterator in result ? inSlices(result) : result;
}

const found = (data: unknown, otherwise: ReadResult): ReadResult =>
  data === undefined ? otherwise : { data };

/** Rows until there are `limit` of them or they are as large as a page may be; one at the least. */
function page<T>(
  rows: Iterable<T>,
  limit: number,
  bytesOf: (row: T) => number,
): { rows: T[]; more: boolean } {
  const taken: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    const full = taken.length === limit || bytes > serverBounds.pageBytes;
    if (full && taken.length > 0) return { rows: taken, more: true };
    taken.push(row);
  }
  return { rows: taken, more: false };
}

const jsonBytes = (row: unknown) => Buffer.byteLength(JSON.stringify(row));

export function state({ network }: ReadRequest): ReadResult {
  return { data: network.read.networkState() };
}

export function* agents({ network, query }: ReadRequest): Sliced<ReadResult> {
  const limit = query.has('limit') ? rowsOf(query) : Number.POSITIVE_INFINITY;
  if (limit === null) return badQuery('limit', expectedRows);
  const list = yield* network.read.activeAgentsInSlices();
  if (!query.has('limit')) return { data: list };
  const { validators, producers } = list;
  return { data: { validators: validators.slice(0, limit), producers: producers.slice(0, limit) } };
}

export function reputation({ network, params: [id = ''] }: ReadRequest): ReadResult {
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  return found(network.read.reputation(id), unknown('UNKNOWN_AGENT', 'agent has the id', id));
}

export function agent({ network, params: [id = ''] }: ReadRequest): ReadResult {
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  return found(network.read.agent(id), unknown('UNKNOWN_AGENT', 'agent has the id', id));
}

const statuses: readonly string[] = BlockStatus.enum;

export function blocks({ network, query }: ReadRequest): ReadResult {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const before = query.has('cursor') ? number(query, 'cursor', 0) : undefined;
  if (before === null) return badQuery('cursor', expectedCursor);
  const status = query.get('status');
  if (status !== null && !statuses.includes(status)) {
    return badQuery('status', `one of ${statuses.join(', ')}`);
  }
  const chosen = [];
  let scanned = 0;
  let last: number | null = null;
  for (const { ordinal, ...header } of network.read.blocks(before)) {
    // Asked before the next one is taken: then there is one more.
    if (chosen.length === limit || scanned === SCANNED_BLOCKS) {
      return { data: { blocks: chosen, next_cursor: String(last) } };
    }
    if (status === null || header.status === status) chosen.push(header);
    scanned += 1;
    last = ordinal;
  }
  return { data: { blocks: chosen, next_cursor: null } };
}

/** Blocks that one page reads at the most. */
const SCANNED_BLOCKS = 1_000;

export function block({ network, params: [hash = ''] }: ReadRequest): ReadResult {
  const refusal = pathProblem('block_hash', hash);
  if (refusal) return { refusal };
  const view = network.read.block(hash.toLowerCase());
  const record = network.read.record('blocks', hash.toLowerCase());
  if (!view || !record) return unknown('UNKNOWN_BLOCK', 'block has the hash', hash);
  const { entry } = record.context;
  const { public_key, body } = network.read.signed(entry);
  return { data: { ...view, entry, proposal: body, public_key: public_key.toLowerCase() } };
}

export function* votes(request: ReadRequest): Sliced<ReadResult> {
  const { network, params, query } = request;
  const [hash = ''] = params;
  const refusal = pathProblem('block_hash', hash);
  if (refusal) return { refusal };
  const limit = rowsOf(query, bounds.pageRows);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = number(query, 'cursor', -1);
  if (after === null) return badQuery('cursor', expectedCursor);
  const record = network.read.record('blocks', hash.toLowerCase());
  if (!record) return unknown('UNKNOWN_BLOCK', 'block has the hash', hash);
  const { ordinal, electorate } = record.context;
  const { rows, more } = yield* votesOn(network, ordinal, after, limit);
  return {
    data: {
      block_hash: hash.toLowerCase(),
      electorate: yield* electors(network, electorate),
      votes: rows.map(({ public_key, body }) => ({
        public_key: public_key.toLowerCase(),
        vote: body,
      })),
      next_cursor: more ? String(rows.at(-1)!.voter) : null,
    },
  };
}

/** Records that are read at once, between two pauses. */
const AT_ONCE = 50;

/** A page of the votes on a block that are committed now: those of later entries are left out. */
function* votesOn({ read }: ReadNetwork, block: number, after: number, limit: number) {
  const { seq } = read.position;
  const rows: ({ voter: number } & ReturnType<ReadNetwork['read']['signed']>)[] = [];
  let bytes = 0;
  let voter = after;
  for (;;) {
    const range = { from: [block, voter + 1], to: [block + 1], limit: AT_ONCE };
    const some = [...read.records('votes', range)];
    for (const { key, value } of some) {
      yield;
      voter = (key as readonly number[])[1]!;
      if (value.entry > seq) continue;
      const row = { voter, ...read.signed(value.entry) };
      bytes += row.bytes;
      const full = rows.length === limit || bytes > serverBounds.pageBytes;
      if (full && rows.length > 0) return { rows, more: true };
      rows.push(row);
    }
    if (some.length < AT_ONCE) return { rows, more: false };
  }
}

/** As `read.electors`: none of it changes. */
function* electors({ read }: ReadNetwork, id: number) {
  const { agents, weights } = read.record('electorates', id)!;
  const found: ReturnType<ReadNetwork['read']['electors']> = [];
  for (const [place, ordinal] of agents.entries()) {
    yield;
    const { agent_id } = read.record('agent_numbers', ordinal)!;
    const { public_key } = read.record('agents', agent_id)!;
    found.push({ agent_id, public_key, weight: weights[place]! });
  }
  return found;
}

export function transactions({ network, params: [hash = ''], query }: ReadRequest): ReadResult {
  const refusal = pathProblem('hash', hash);
  if (refusal) return { refusal };
  const limit = rowsOf(query, bounds.pageRows);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = query.get('cursor');
  if (after !== null && !/^[0-9a-f]{64}$/.test(after)) return badQuery('cursor', expectedCursor);
  const key = hash.toLowerCase();
  const range = { from: after === null ? [key] : [key, `${after}0`], to: [`${key}0`] };
  const { rows, more } = page(network.read.records('transactions', range), limit, jsonBytes);
  if (rows.length === 0 && after === null) {
    return unknown('UNKNOWN_TX', 'final transaction has the hash', hash);
  }
  const signers = rows.map(({ key: row, value }) => ({
    signer: (row as readonly [string, string])[1],
    ...value,
  }));
  const next_cursor = more ? signers.at(-1)!.signer : null;
  return { data: { hash: key, status: 'finalized', signers, next_cursor } };
}

export function stateValue({ network, params: [key = ''] }: ReadRequest): ReadResult {
  const refusal = pathProblem('key', key);
  if (refusal) return { refusal };
  const record = network.read.record('state', key);
  return found(
    record && { key, ...record },
    unknown('UNKNOWN_KEY_NAME', 'state is kept under', key),
  );
}

export function alliances({ network, query }: ReadRequest): ReadResult {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const after = query.get('cursor');
  if (after !== null && !/^ally_[0-9a-f]{32}$/.test(after)) {
    return badQuery('cursor', expectedCursor);
  }
  const from = after === null ? {} : { from: `${after}0` };
  const { rows, more } = page(network.read.alliances(from), limit, jsonBytes);
  return { data: { alliances: rows, next_cursor: more ? rows.at(-1)!.alliance_id : null } };
}

const topicsKnown = new Set(Object.values(eventTopics).flat());

export function* events({ network, query }: ReadRequest): Sliced<ReadResult> {
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
  const chosen: unknown[] = [];
  let bytes = 0;
  let seq = after;
  const last = Math.min(head, after + SCANNED);
  for (const event of readable(eventTexts(network, after + 1, last))) {
    yield;
    const wanted = about(event.type);
    if (wanted) bytes += Buffer.byteLength(event.json);
    const full = chosen.length === limit || bytes > serverBounds.pageBytes;
    if (full && chosen.length > 0) break;
    seq = event.seq;
    if (wanted) chosen.push(JSON.parse(event.json));
  }
  const { epoch } = network;
  return {
    data: { events: chosen, epoch, last_seq: head, next_cursor: seq < head ? `${seq}` : null },
  };
}

/** Some at once: no reader of the data stays open over a pause. */
function* eventTexts({ read }: ReadNetwork, from: number, last: number) {
  for (let at = from; at <= last; at += AT_ONCE) {
    const some: { seq: number; type: EventType; json: string }[] = [];
    let failure: unknown;
    try {
      for (const event of read.eventTexts(at, Math.min(last, at + AT_ONCE - 1))) some.push(event);
    } catch (error) {
      failure = error;
    }
    yield* some;
    if (failure !== undefined) throw failure;
  }
}

/** Events that one page of /events reads at the most. */
const SCANNED = 10_000;
