/** Handlers for reads of committed state. */
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type EventType, eventTopics } from '../../engine/protocol/schema/event.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { ProposalBody, VoteBody } from '../../engine/protocol/schema/request.js';
import { excerpt } from '../../engine/protocol/text.js';
import { readable } from '../../engine/store/segment.js';
import { DEBUG_UNIT_BYTES, serverBounds } from '../contract/limit-table.js';
import { reads } from '../contract/reads.js';
import type { AnswerOf, Asked, Declared } from '../contract/route.js';
import type { DocumentName } from '../contract/server.js';
import { runInSlices, type SlicedWork } from '../time-slices.js';
import type { Body, RequestHead } from '../transport/transport.js';
import { countUnits } from './budget.js';
import type { Call, Handler } from './handler.js';
import {
  type Answer,
  addQuotaHeaders,
  fileResponse,
  jsonResponse,
  quotaExceeded,
  success,
} from './response.js';
import { routeNotFound } from './route-responses.js';

/** A network, current or as of an entry. */
type ReadNetwork = Pick<ServedNetwork, 'read' | 'epoch'>;

type ReadResult<Data = unknown> = { data: Data } | { refusal: Refusal };

/** A long read pauses at each `yield`. State that it reads after a pause must be immutable. */
type Read<D> = (
  network: ReadNetwork,
  asked: Asked<D>,
) => ReadResult<AnswerOf<D>> | SlicedWork<ReadResult<AnswerOf<D>>>;

type ReadName = keyof typeof reads;

const handlers: { readonly [N in ReadName]: Read<(typeof reads)[N]> } = {
  state: ({ read }) => ({ data: read.networkState() }),

  *agents({ read }, { limit }) {
    const list = yield* read.activeAgentsInSlices();
    if (limit === null) return { data: list };
    const { validators, producers } = list;
    const some = { validators: validators.slice(0, limit), producers: producers.slice(0, limit) };
    return { data: some };
  },

  reputation: ({ read }, { agent_id }) =>
    found(read.reputation(agent_id), unknown('AGENT_UNKNOWN', agent_id)),

  agent: ({ read }, { agent_id }) =>
    found(read.agent(agent_id), unknown('AGENT_UNKNOWN', agent_id)),

  blocks({ read }, { status, limit, cursor }) {
    const blocks = [];
    let scanned = 0;
    let last: number | null = null;
    for (const { ordinal, ...header } of read.blocks(cursor ?? undefined)) {
      // This block does not fit on the page, so the next page has at least one block.
      if (blocks.length === limit || scanned === SCANNED_BLOCKS) {
        return { data: { blocks, next_cursor: String(last) } };
      }
      if (status === null || header.status === status) blocks.push(header);
      scanned += 1;
      last = ordinal;
    }
    return { data: { blocks, next_cursor: null } };
  },

  block({ read }, { block_hash }) {
    const view = read.block(block_hash.toLowerCase());
    const record = read.record('blocks', block_hash.toLowerCase());
    if (!view || !record) return unknown('BLOCK_UNKNOWN', block_hash);
    const { entry } = record.context;
    const { public_key, body } = read.signed(entry);
    const proposal = body as ProposalBody;
    return { data: { ...view, entry, proposal, public_key: public_key.toLowerCase() } };
  },

  *votes(network, { block_hash, limit, cursor }) {
    const record = network.read.record('blocks', block_hash.toLowerCase());
    if (!record) return unknown('BLOCK_UNKNOWN', block_hash);
    const { ordinal, electorate } = record.context;
    const { rows, more } = yield* votesOn(network, ordinal, cursor ?? -1, limit);
    return {
      data: {
        block_hash: block_hash.toLowerCase(),
        electorate: yield* electors(network, electorate),
        votes: rows.map(({ public_key, body }) => ({
          public_key: public_key.toLowerCase(),
          vote: body as VoteBody,
        })),
        next_cursor: more ? String(rows.at(-1)!.voter) : null,
      },
    };
  },

  transactions({ read }, { hash: sent, limit, cursor }) {
    const hash = sent.toLowerCase();
    const range = { from: cursor === null ? [hash] : [hash, `${cursor}0`], to: [`${hash}0`] };
    const { rows, more } = pageOf(read.records('transactions', range), limit, jsonBytes);
    if (rows.length === 0 && cursor === null) {
      return unknown('TRANSACTION_UNKNOWN', sent);
    }
    const signers = rows.map(({ key, value }) => ({
      signer: (key as readonly [string, string])[1],
      ...value,
    }));
    const next_cursor = more ? signers.at(-1)!.signer : null;
    return { data: { hash, status: 'finalized', signers, next_cursor } };
  },

  stateValue({ read }, { key }) {
    const record = read.record('state', key);
    const otherwise = unknown('STATE_KEY_UNKNOWN', key);
    return found(record && { key, ...record }, otherwise);
  },

  alliances({ read }, { limit, cursor }) {
    const from = cursor === null ? {} : { from: `${cursor}0` };
    const { rows, more } = pageOf(read.alliances(from), limit, jsonBytes);
    return { data: { alliances: rows, next_cursor: more ? rows.at(-1)!.alliance_id : null } };
  },

  *events(network, { after, topics, limit }) {
    const head = network.read.position.event_seq;
    const about = (type: EventType) => eventTopics[type].some((topic) => topics.includes(topic));
    const events = [];
    let bytes = 0;
    let seq = after;
    const last = Math.min(head, after + SCANNED);
    for (const event of readable(eventTexts(network, after + 1, last))) {
      yield;
      const wanted = about(event.type);
      if (wanted) bytes += Buffer.byteLength(event.json);
      const full = events.length === limit || bytes > serverBounds.pageBytes;
      if (full && events.length > 0) break;
      seq = event.seq;
      if (wanted) events.push(JSON.parse(event.json));
    }
    const { epoch } = network;
    return { data: { events, epoch, last_seq: head, next_cursor: seq < head ? `${seq}` : null } };
  },
};

const SCANNED_BLOCKS = 1_000;
const SCANNED = 10_000;

function found<T>(data: T | undefined, otherwise: { refusal: Refusal }): ReadResult<T> {
  return data === undefined ? otherwise : { data };
}

type Unknown = 'AGENT_UNKNOWN' | 'BLOCK_UNKNOWN' | 'TRANSACTION_UNKNOWN' | 'STATE_KEY_UNKNOWN';

const unknown = (key: Unknown, id: string): { refusal: Refusal } => ({
  refusal: refuse(key, { id: id.slice(0, 128) }),
});

/** Takes rows up to `limit` and the page size, but at least one row. */
function pageOf<T>(
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

/** Number of records read at once, without a pause. */
const AT_ONCE = 50;

/** Returns a page of the committed votes on a block, skipping votes from later entries. */
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

/** Returns the immutable electorate, like `read.electors`. */
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

/** Reads events in batches, so no store reader stays open across a pause. */
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

/** A read that parses its parameters. Returns the result directly if the read is short. */
export type BoundRead = (
  network: ReadNetwork,
  params: readonly string[],
  query: URLSearchParams,
) => ReadResult | Promise<ReadResult>;

export function boundRead<N extends ReadName>(name: N): BoundRead {
  const askedOf = parameterReader<(typeof reads)[N]>(reads[name], ['at']);
  return (network, params, query) => {
    const sent = askedOf(params, query);
    if ('refusal' in sent) return sent;
    const result = handlers[name](network, sent.asked);
    return Symbol.iterator in result ? runInSlices(result) : result;
  };
}

/**
 * Returns a parser for a route's parameters, which parses path parameters first, then the query. An
 * invalid value is refused before any read. A list may be sent as one value with commas or as a
 * repeated parameter.
 *
 * @param elsewhere query parameters of the route that another parser reads.
 */
export function parameterReader<D extends Partial<Declared>>(
  { parameters = {}, query: known = {} }: D,
  elsewhere: readonly string[] = [],
) {
  const inPath = Object.entries(parameters);
  const inQuery = Object.entries(known);
  const names = new Set([...Object.keys(known), ...elsewhere]);
  return (
    params: readonly string[],
    query: URLSearchParams,
  ): { asked: Asked<D> } | { refusal: Refusal } => {
    const asked: Record<string, unknown> = {};
    for (const [place, [name, parameter]] of inPath.entries()) {
      const value = params[place] ?? '';
      asked[name] = parameter.read(value);
      if (asked[name] === undefined) return badPath(name, value, parameter.expected);
    }
    const bracketed = query.size > 0 && bracketedName(query, names);
    if (bracketed) return bracketed;
    for (const [name, parameter] of inQuery) {
      const values = query.getAll(name);
      const isList = (parameter.schema as { type?: string }).type === 'array';
      if (values.length > 1 && !isList) return repeatedQuery(name, values.length);
      const value = values.length === 0 ? null : values.join(',');
      asked[name] = parameter.read(value);
      if (asked[name] === undefined) return badQuery(name, value, parameter.expected);
    }
    return { asked: asked as Asked<D> };
  };
}

/** Refuses a name such as `topics[]`, with which some clients send a list or an object. */
function bracketedName(
  query: URLSearchParams,
  names: ReadonlySet<string>,
): { refusal: Refusal } | null {
  for (const sent of query.keys()) {
    const [, name = ''] = /^([^[]+)\[.*\]$/s.exec(sent) ?? [];
    if (!names.has(name)) continue;
    const values = { sent: excerpt(sent), name };
    return { refusal: refuse('QUERY_PARAMETER_BRACKETS', values, { pointer: `/${name}` }) };
  }
  return null;
}

function repeatedQuery(name: string, count: number): { refusal: Refusal } {
  return { refusal: refuse('QUERY_PARAMETER_REPEATED', { name, count }, { pointer: `/${name}` }) };
}

function badPath(name: string, value: string, expected: string): { refusal: Refusal } {
  const values = { name, value: excerpt(value), expected };
  return { refusal: refuse('PATH_PARAMETER_INVALID', values, { pointer: `/${name}` }) };
}

export function badQuery(
  name: string,
  value: string | null,
  expected: string,
): { refusal: Refusal } {
  const values = { name, value: value === null ? 'none' : excerpt(value), expected };
  return { refusal: refuse('QUERY_PARAMETER_INVALID', values, { pointer: `/${name}` }) };
}

/** Handles a request with the parameters that the route declares. */
export function asking<D extends Declared>(
  declared: D,
  handle: (call: Call, asked: Asked<D>) => ReturnType<Handler>,
): Handler {
  const askedOf = parameterReader(declared);
  return (call) => {
    const sent = askedOf(call.params, parseQuery(call.head.target));
    return 'refusal' in sent ? sent : handle(call, sent.asked);
  };
}

export const rateLimited =
  (handle: Handler, cost = 1): Handler =>
  (call) => {
    const { limits } = call.services;
    if (!limits.figures) return runSerially(handle, call);
    const { address } = call.budget;
    const taken = address.take('read', cost - 1 + readCost(call.body));
    if ('exceeded' in taken) return quotaExceeded(taken.exceeded);
    const left = address.quota('read');
    const answer = runSerially(handle, call);
    if (!(answer instanceof Promise)) return addQuotaHeaders(answer, left);
    return answer.then((later) => addQuotaHeaders(later, left));
  };

function runSerially(handle: Handler, call: Call): ReturnType<Handler> {
  const turn = call.services.large.waitTurn(call.body.length);
  return turn ? turn.then(() => handle(call)) : handle(call);
}

/** Computes the cost of a read: one, or more for a large `debug/verify` body. */
const readCost = (body: Body): number =>
  body === 'unread' || body.length === 0 ? 1 : countUnits(body.length, DEBUG_UNIT_BYTES);

export const committedRead = (read: BoundRead): Handler =>
  rateLimited(({ services: { network }, params, head }) => {
    const result = read(network, params, parseQuery(head.target));
    return result instanceof Promise ? result.then(answerOf) : answerOf(result);
  });

const answerOf = (result: ReadResult): Answer =>
  'refusal' in result ? result : renderData(result.data);

/** Serialized views. Repeated reads return the same object, so its text is cached. */
const texts = new WeakMap<object, string>();

function renderData(data: unknown): Answer {
  if (typeof data !== 'object' || data === null) return success(200, data);
  const known = texts.get(data);
  if (known !== undefined) return jsonResponse(200, known);
  const response = success(200, data);
  texts.set(data, String(response.body));
  return response;
}

const noQuery = new URLSearchParams();

export function parseQuery(target: string): URLSearchParams {
  const from = target.indexOf('?');
  return from < 0 ? noQuery : new URLSearchParams(target.slice(from + 1));
}

export const document =
  (name: DocumentName) =>
  async ({ head }: Pick<Call, 'head'>): Promise<Answer> => {
    // Imported on first use, because most servers never serve the documents.
    const { documentFile } = await import('../documents/reference-page.js');
    return fileResponse(documentFile(name), head.headers);
  };

export const page: Handler = (call) => ifShown(call, 'index.html');

export const pageAsset: Handler = (call) => ifShown(call, call.params[0] ?? '');

const ifShown = ({ head, services }: Call, name: string) =>
  services.ui ? builtFile(name, head) : routeNotFound(head);

export async function builtFile(name: string, head: RequestHead): Promise<Answer> {
  const { pageFile } = await import('../documents/documents.js');
  const found = pageFile(name);
  return found ? fileResponse(found, head.headers) : routeNotFound(head);
}
