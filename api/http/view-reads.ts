/**
 * Handlers for the view reads: agents, decisions, entries, snapshots and the scenario, at any
 * entry. The first read indexes the log. Until the index is complete, slow reads answer BEING_MADE
 * with their progress.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { RecordOf } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import { printLine } from '../../engine/replay/recompute.js';
import { StoreError } from '../../engine/store/messages.js';
import { ArchiveError } from '../../engine/store/segment.js';
import { serverBounds } from '../contract/limit-table.js';
import { at, type reads } from '../contract/reads.js';
import type { Asked } from '../contract/route.js';
import type { Decided, KnownGraph, KnownRun } from '../contract/run.js';
import { shownReads } from '../contract/views.js';
import { runInSlices, type SlicedWork } from '../time-slices.js';
import type { RequestHead } from '../transport/transport.js';
import { computeOverview, readEntry, readMemes } from '../view/log/reads.js';
import type { Overview } from '../view/model.js';
import type { Call, Handler, Progress } from './handler.js';
import {
  asking,
  type BoundRead,
  badQuery,
  boundRead,
  committedRead,
  parameterReader,
  parseQuery,
  rateLimited,
} from './reads.js';
import { type Answer, jsonResponse, success } from './response.js';

/** Cost in units of `read`. */
const COST = 4;
/** Time to wait before answering BEING_MADE. The work continues. */
const PATIENCE_MS = 2_000;

interface How {
  /** Progress to report. Default: the view's progress. */
  progressOf?: (services: Call['services']) => Progress | null;
  cost?: number;
}

const late = Symbol('late');

/** Wraps a slow handler. Waits up to PATIENCE_MS, then answers 503 BEING_MADE. */
const slowRead = (
  show: (call: Call) => Promise<Answer>,
  { progressOf = ofView, cost = COST }: How = {},
): Handler =>
  rateLimited(async (call) => {
    const work = show(call).catch(refused);
    const first = await Promise.race([work, sleep(PATIENCE_MS, late, { ref: false })]);
    return first === late ? beingMade(progressOf(call.services)) : first;
  }, cost);

const ofView = ({ view }: Call['services']) => view.progress;

function refused(error: unknown): Answer {
  if (error instanceof RangeError) {
    return { refusal: refuse('ENTRY_UNAVAILABLE', { problem: error.message }) };
  }
  if (error instanceof ArchiveError || !(error instanceof StoreError)) throw error;
  return { refusal: refuse('LOG_DAMAGED', { problem: error.message }) };
}

function beingMade(progress: Progress | null): { refusal: Refusal } {
  const text = progress ? ` (entry ${progress.entry} of ${progress.to})` : '';
  const details = progress ? { entry: progress.entry, to: progress.to } : {};
  return { refusal: refuse('VIEW_INDEXING', { progress: text }, { details }) };
}

/** Creates the handler for a network read, either current or (with `at`) as of an earlier entry. */
export function historicalRead(name: keyof typeof reads): Handler {
  const read = boundRead(name);
  const now = committedRead(read);
  const then = slowRead(readThen(read), { progressOf: ({ past }) => past?.progress ?? null });
  return (call) => (asksForThen(call.head) ? then : now)(call);
}

const asksForThen = ({ target, path }: RequestHead) =>
  target.length > path.length && parseQuery(target).has('at');

const askedMoment = parameterReader({ query: { at } } as const);

const readThen =
  (read: BoundRead) =>
  async ({ services: { past, network }, params, head, budget }: Call): Promise<Answer> => {
    const query = parseQuery(head.target);
    const sent = askedMoment([], query);
    if ('refusal' in sent) return sent;
    if (!past) return { refusal: refuse('HISTORY_UNAVAILABLE') };
    const found = await past.at(sent.asked.at!, budget.address.subject);
    if ('reason' in found) return { refusal: found };
    const result = await read({ epoch: network.epoch, read: found.read }, params, query);
    return 'refusal' in result ? result : success(200, result.data);
  };

type ShownName = keyof typeof shownReads;

const costs: Partial<Record<ShownName, number>> = { view_progress: 1 };

export function shownRead<N extends ShownName>(name: N): Handler {
  const handle = asking<(typeof shownReads)[N]>(shownReads[name], handlers[name]);
  return slowRead(async (call) => handle(call), { cost: costs[name] ?? COST });
}

const { memeRows, voteBlocks, columnRows, columnBytes, columnSaid, graphEdges, neighbourLinks } =
  serverBounds.view;

const handlers: {
  readonly [N in ShownName]: (
    call: Call,
    asked: Asked<(typeof shownReads)[N]>,
  ) => Answer | Promise<Answer>;
} = {
  async view({ services: { view } }, { at: entry }) {
    const text = await view.pictureText(entry ?? undefined);
    return jsonResponse(200, `{"success":true,"data":${text}}`);
  },

  /** Continues indexing with each request. */
  async view_progress({ services: { view, network } }) {
    const all = view.catchUp().then(() => true);
    const made = await Promise.race([all, sleep(MOMENT_MS, false, { ref: false })]);
    all.catch(() => undefined);
    const { seq } = network.read.position;
    const ended = { entry: made ? seq : Math.max(0, view.end), to: seq };
    return success(200, { made, ...((made ? null : view.progress) ?? ended) });
  },

  async columns({ services: { view } }, { from, to }) {
    const { from: first, to: last } = shownReads.columns.query;
    if (from === null) return badQuery('from', null, first.expected);
    if (to !== null && to < from) return badQuery('to', String(to), last.expected);
    const most = { rows: columnRows, said: columnSaid, bytes: columnBytes };
    const body = await view.spanBytes(from, to ?? undefined, most);
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'no-store' };
    return { status: 200, headers, body };
  },

  async overview({ services: { network } }, { buckets }) {
    const data: Overview = await runInSlices(computeOverview(network, buckets));
    return success(200, data);
  },

  roster: ({ services: { network } }, { limit, cursor }) =>
    runInSlices(rosterOf(network.read, cursor ?? 0, limit)),

  agent_votes({ services: { network } }, { agent_id, limit, cursor }) {
    const profile = network.read.record('agents', agent_id);
    if (!profile) return unknownAgent(agent_id);
    const page = votesOf(network, profile.ordinal, cursor ?? Number.MAX_SAFE_INTEGER, limit);
    return success(200, { agent_id, ...page });
  },

  agent_memes({ services }, { agent_id, ...page }) {
    if (!services.network.read.record('agents', agent_id)) return unknownAgent(agent_id);
    return memesShown(services, page, agent_id);
  },

  async agent_decisions({ services }, { agent_id: id, at: last, limit, cursor }) {
    const { network, run } = services;
    const profile = network.read.record('agents', id);
    if (!profile) return unknownAgent(id);
    if (!run) return { refusal: refuse('DECISIONS_UNAVAILABLE') };
    const { decisions } = run;
    if (typeof decisions === 'string') return none(decisions);
    const place = run.placeOf(profile);
    if (place === null) return none(`agent ${id} is not part of the scenario`);
    const blocks = await decisions.blocksOf(place);
    if (typeof blocks === 'string') return none(blocks);
    const votes = votesAsShown(network, profile.ordinal);
    const fits = (block: number) => last === null || (votes(block)?.entry ?? 0) <= last;
    const recorded = placeAfter(blocks, fits);
    const end = Math.min(cursor ?? recorded, recorded);
    const from = Math.max(0, end - limit);
    const lines = await decisions.read(place, from, end);
    const rows: object[] = [];
    let bytes = 0;
    for (const line of lines.reverse()) {
      const row = rowOf(network, line, votes(line.block));
      if (row === null) return { refusal: contradiction(id, line.block) };
      bytes += Buffer.byteLength(JSON.stringify(row));
      if (bytes > serverBounds.pageBytes && rows.length > 0) break;
      rows.push(row);
    }
    const left = end - rows.length;
    const next_cursor = left > 0 && rows.length > 0 ? String(left) : null;
    return success(200, { agent_id: id, recorded, decisions: rows, next_cursor });
  },

  /** Neighbours as of the entry's time. */
  async agent_neighbours({ services }, { agent_id: id, at: entry, limit, cursor }) {
    const { run, network } = services;
    const { read } = network;
    const from = cursor ?? 0;
    const asOf = entry ?? read.position.seq;
    const end = read.log.entry(asOf);
    if (!end) throw new RangeError(`the log has no entry ${asOf}`);
    const profile = read.record('agents', id);
    if (!profile) return unknownAgent(id);
    if (!run) return unknownScenario();
    const own = run.placeOf(profile);
    if (own === null) return { refusal: refuse('SCENARIO_AGENT_UNKNOWN', { agent_id: id }) };
    const graph = run.graph();
    if (typeof graph === 'string') return { refusal: refuse('GRAPH_UNKNOWN', { problem: graph }) };
    const all = graph.neighbours[own]!;
    const page = all.slice(from, from + limit);
    const neighbours = page.map((place) => {
      const agent_id = run.idAt(place);
      return {
        agent_id,
        number: read.record('agents', agent_id)?.ordinal ?? null,
        hears: graph.passes(place, own, end.at),
        heard: graph.passes(own, place, end.at),
      };
    });
    const next_cursor = from + limit < all.length ? String(from + limit) : null;
    const links = linksAmong(graph, page);
    const { topology } = graph;
    return success(200, {
      agent_id: id,
      topology,
      total: all.length,
      neighbours,
      links,
      next_cursor,
    });
  },

  memes: ({ services }, page) => memesShown(services, page),

  async log({ services: { network } }, { from, limit }) {
    const { read } = network;
    const first = from ?? 0;
    const last = Math.min(read.position.seq, first + limit - 1);
    if (first > last) {
      const values = { entry: first, last: read.position.seq };
      return { refusal: refuse('ENTRY_UNKNOWN', values) };
    }
    const body = await runInSlices(linesOf(read, first, last));
    const headers = { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' };
    return { status: 200, headers, body };
  },

  entry({ services: { network } }, { entry }) {
    const found = readEntry(network.read, entry!);
    if (found) return success(200, found);
    const values = { entry: entry!, last: network.read.position.seq };
    return { refusal: refuse('ENTRY_UNKNOWN', values) };
  },

  scenario: ({ services: { scenario: known, run } }) =>
    known ? success(200, { ...known, graph: run && graphOf(run) }) : unknownScenario(),
};

/** Time that a progress request waits for indexing to finish. */
const MOMENT_MS = 250;

/** Returns a page of agents. Its rows may reflect different entries, because the read pauses. */
function* rosterOf(read: ServedNetwork['read'], from: number, limit: number): SlicedWork<Answer> {
  const agents: object[] = [];
  const end = from + limit;
  for (let at = from; at < end; at += AT_ONCE) {
    const range = { from: at, limit: Math.min(AT_ONCE, end - at) };
    const some = [...read.records('agent_numbers', range)];
    for (const { key, value } of some) {
      const agent = read.agent(value.agent_id)!;
      agents.push({
        number: key,
        id: agent.id,
        public_key: agent.public_key,
        personality: agent.personality,
        name: agent.name,
        capabilities: agent.capabilities,
        status: agent.status,
        registration_time: agent.registration_time,
        dormant: agent.dormant,
        reputation_score: agent.reputation_score,
        blocks_produced: agent.blocks_produced,
      });
      yield;
    }
    if (some.length < range.limit) return success(200, { agents, next_cursor: null });
  }
  const isMore = [...read.records('agent_numbers', { from: end, limit: 1 })].length > 0;
  return success(200, { agents, next_cursor: isMore ? String(end) : null });
}

/** Number of records read at once, without a pause. */
const AT_ONCE = 50;

function votesOf({ read }: ServedNetwork, agent: number, before: number, limit: number) {
  const votes = [];
  let scanned = 0;
  for (const { key, value } of read.records('block_numbers', { reverse: true, to: before })) {
    if (votes.length === limit || scanned === voteBlocks) {
      return { votes, next_cursor: String((key as number) + 1) };
    }
    scanned += 1;
    const vote = read.record('votes', [key as number, agent]);
    if (!vote) continue;
    const { state, context } = read.record('blocks', value.block_hash)!;
    const { height } = context;
    votes.push({ block_hash: value.block_hash, height, block_status: state, ...vote });
  }
  return { votes, next_cursor: null };
}

async function memesShown(
  { network }: Call['services'],
  { limit, cursor }: { limit: number; cursor: number | null },
  creator?: string,
): Promise<Answer> {
  const before = cursor ?? Number.MAX_SAFE_INTEGER;
  const asked = { before, limit, rows: memeRows, ...(creator === undefined ? {} : { creator }) };
  const page = await runInSlices(readMemes(network.read, asked));
  const next_cursor = page.before === null ? null : String(page.before);
  return success(200, { memes: page.memes.map(memeShown), next_cursor });
}

function memeShown(meme: RecordOf['memes']) {
  const { ordinal: _, content_sha256: __, posted_at: at, ...rest } = meme;
  return { ...rest, at };
}

const unknownAgent = (id: string) => ({
  refusal: refuse('AGENT_UNKNOWN', { id }),
});

const none = (problem: string) => ({ refusal: refuse('DECISIONS_UNREADABLE', { problem }) });

const votesAsShown =
  ({ read }: ServedNetwork, agent: number) =>
  (block: number): RecordOf['votes'] | undefined =>
    read.record('votes', [block, agent]);

/** Counts the leading blocks that fit, by binary search: fitting blocks precede the others. */
function placeAfter(blocks: readonly number[], fits: (block: number) => boolean): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(blocks[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Builds a row. Returns null if the log does not contain the vote. */
function rowOf({ read }: ServedNetwork, line: Decided, vote: RecordOf['votes'] | undefined) {
  const { block: ordinal, decision, ...reasons } = line;
  if (vote?.decision !== decision) return null;
  const { block_hash } = read.record('block_numbers', ordinal)!;
  const { height } = read.record('blocks', block_hash)!.context;
  const { entry, at } = vote;
  return { block_hash, height, decision, entry, at, ...reasons };
}

function contradiction(id: string, block: number): Refusal {
  return refuse('DECISION_MISMATCH', { agent_id: id, block });
}

/** Number of entries read at once, without a pause. */
const ENTRIES_AT_ONCE = 5;

function* linesOf(
  { log }: ServedNetwork['read'],
  from: number,
  last: number,
): Generator<undefined, string> {
  const lines: string[] = [];
  let bytes = 0;
  for (let at = from; at <= last; at += ENTRIES_AT_ONCE) {
    for (const line of [...storedLines(log, at, Math.min(last, at + ENTRIES_AT_ONCE - 1))]) {
      yield;
      const text = JSON.stringify(printLine(line));
      bytes += text.length;
      if (bytes > serverBounds.view.logBytes && lines.length > 0) return lines.join('');
      lines.push(`${text}\n`);
    }
  }
  return lines.join('');
}

const unknownScenario = () => ({ refusal: refuse('SCENARIO_UNKNOWN') });

/** Cached per graph. */
const shownGraphs = new WeakMap<KnownGraph, object>();

function graphOf(run: KnownRun): object | null {
  const graph = run.graph();
  if (typeof graph === 'string') return null;
  const known = shownGraphs.get(graph);
  if (known) return known;
  const { topology, neighbours } = graph;
  const links = neighbours.reduce((sum, { length }) => sum + length, 0) / 2;
  const shown = { topology, links, edges: links > graphEdges ? null : [...edgesOf(graph)] };
  shownGraphs.set(graph, shown);
  return shown;
}

function* edgesOf({ neighbours }: KnownGraph): Iterable<[number, number]> {
  for (const [a, others] of neighbours.entries()) for (const b of others) if (a < b) yield [a, b];
}

function linksAmong({ neighbours }: KnownGraph, page: readonly number[]): [number, number][] {
  const places = new Map(page.map((agent, place) => [agent, place]));
  const links: [number, number][] = [];
  for (const [place, agent] of page.entries()) {
    for (const other of neighbours[agent]!) {
      const there = places.get(other);
      if (there === undefined || there <= place) continue;
      links.push([place, there]);
      if (links.length === neighbourLinks) return links;
    }
  }
  return links;
}
