/**
 * An unpacked run: the player's source, and the responses that a server would send. Requests for
 * data that the file does not contain are refused with a message.
 */
import {
  type AgentRow,
  type BlockRow,
  type MemeRow,
  type Overview,
  type RowBatch,
  rowCode,
  type Snapshot,
} from '../../api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../api/view/reducer.js';
import { sliceRowBatch } from '../../api/view/row-batch.js';
import { decodeRunArchive, type RunArchive, type RunData } from '../../api/view/row-table.js';
import { blockStatuses } from '../../engine/protocol/event-types.js';
import { PageError, pageText, RefusedError } from '../messages.js';
import { Keyframes } from '../player/history.js';
import type { Source } from '../player/source.js';
import { decodeBase64, gunzip } from './unpack.js';

class Run {
  readonly spans: readonly RowBatch[];
  readonly kept: RunData;
  readonly agents: readonly AgentRow[];
  /** Registration times by agent number. */
  readonly registered: readonly number[];
  readonly #keyframes = new Keyframes();

  constructor({ batches, data }: RunArchive) {
    this.spans = batches;
    this.kept = data;
    const snapshot = createEmptySnapshot(data.network);
    for (const batch of batches) this.#keyframes.add(applyRowBatch(snapshot, batch));
    this.agents = snapshot.agents;
    this.registered = batches.flatMap(({ rows }) =>
      [...rows.at].filter((_, row) => rows.kind[row] === rowCode.registered),
    );
  }

  get end(): number {
    return this.spans.at(-1)!.to;
  }

  /** @throws {RangeError} for an entry past the end */
  picture(at: number): Snapshot {
    if (at > this.end) throw this.#unknown(at);
    const snapshot = this.#keyframes.before(at) ?? createEmptySnapshot(this.kept.network);
    for (const batch of this.spans) {
      if (batch.to > snapshot.entry && batch.from <= at) applyRowBatch(snapshot, batch, at);
    }
    const { entries, at: times } = this.kept.quiet;
    const quiet = entries.indexOf(at);
    if (quiet >= 0) snapshot.at = times[quiet]!;
    return snapshot;
  }

  /** Rows `from` to `to`, or up to the end of the batch. @throws {RangeError} */
  rows(from: number, to: number): RowBatch {
    const batch = this.spans.find((one) => from <= one.to);
    if (!batch) throw this.#unknown(from);
    return sliceRowBatch(batch, from, to);
  }

  #unknown(entry: number): RangeError {
    return new RangeError(pageText('ENTRY_UNKNOWN', { entry, last: this.end }));
  }

  agent(id: string): AgentRow | undefined {
    return this.agents.find((agent) => agent.id === id);
  }

  block(hash: string): BlockRow | undefined {
    return this.#introduced('blocks', (block) => block.hash === hash);
  }

  meme(id: string): MemeRow | undefined {
    return this.#introduced('memes', (meme) => meme.id === id);
  }

  #introduced<T extends 'blocks' | 'memes'>(
    what: T,
    is: (one: RowBatch['introduced'][T][number]) => boolean,
  ): RowBatch['introduced'][T][number] | undefined {
    for (const { introduced } of this.spans) {
      const found = (introduced[what] as RowBatch['introduced'][T][number][]).find(is);
      if (found) return found;
    }
    return undefined;
  }
}

/** The player's source in an exported file. */
export class ArchivedRun implements Source {
  readonly origin = '';
  readonly run: Promise<Run>;

  /** @param bytes gzip data */
  constructor(bytes: ArrayBuffer) {
    this.run = gunzip(new Uint8Array(bytes)).then(
      (archive) => new Run(decodeRunArchive(archive)),
      () => {
        throw new PageError('FILE_DAMAGED');
      },
    );
  }

  async view(at: number | null): Promise<Snapshot> {
    const run = await this.run;
    return run.picture(at ?? run.end);
  }

  async columns(from: number, to: number): Promise<RowBatch> {
    return (await this.run).rows(from, to);
  }

  async overview(): Promise<Overview> {
    return (await this.run).kept.overview;
  }

  async json<T>(path: string): Promise<T> {
    const { status, body } = answerRequest(await this.run, { path, method: 'GET' });
    if (status !== 200) throw new RefusedError('NOT_IN_FILE', { status });
    return (JSON.parse(body as string) as { data: T }).data;
  }
}

const { block_validation: VOTE, block_status: CLOSING } = rowCode;

interface Ballot {
  agent: number;
  decision: 'approve' | 'reject';
  weight: number;
  reason: string;
}

interface Found {
  ballots: Ballot[];
  status: string;
  closed_at: number | null;
}

/** Collects a block's ballots and its closing. */
function followed({ spans: batches }: Run, { number, entry }: BlockRow): Found {
  const found: Found = { ballots: [], status: 'voting', closed_at: null };
  for (const { from, to, rows, said } of batches) {
    if (to < entry) continue;
    const reasons = new Map<number, string>();
    for (const one of said) if (one.kind === 'reason') reasons.set(one.entry, one.text);
    for (let row = 0; row < rows.kind.length; row += 1) {
      const kind = rows.kind[row]!;
      if (rows.what[row] !== number || (kind !== VOTE && kind !== CLOSING)) continue;
      const value = rows.value[row]!;
      if (kind === CLOSING)
        return { ...found, status: blockStatuses[value]!, closed_at: rows.at[row]! };
      found.ballots.push({
        agent: rows.who[row]!,
        decision: value % 2 === 1 ? 'reject' : 'approve',
        weight: Math.floor(value / 2),
        reason: reasons.get(from + rows.entry[row]!) ?? '',
      });
    }
  }
  return found;
}

/** Returns undefined for an unknown block. */
function blockData(run: Run, hash: string): object | undefined {
  const block = run.block(hash.toLowerCase());
  if (!block) return undefined;
  const { ballots, status, closed_at } = followed(run, block);
  const { id, public_key } = run.agents[block.producer]!;
  const weight = (decision: Ballot['decision']) =>
    ballots.reduce((sum, one) => sum + (one.decision === decision ? one.weight : 0), 0);
  return {
    block_hash: block.hash,
    parent_hash: block.parent,
    height: block.height,
    status,
    producer: { id, public_key },
    tally: { approve: weight('approve'), reject: weight('reject'), electorate: block.total },
    transactions: block.transactions,
    voting_deadline: timeOf(block.deadline),
    timestamp: timeOf(block.proposed_at),
    closed_at: closed_at === null ? null : timeOf(closed_at),
    entry: block.entry,
    proposal: run.kept.proposals[block.number] ?? {},
    public_key,
  };
}

const timeOf = (ms: number) => new Date(ms).toISOString();

/**
 * Returns votes by agent number. The electorate lists voters only, because the rows contain no
 * other weights.
 */
function votesOn(run: Run, hash: string): object | undefined {
  const block = run.block(hash.toLowerCase());
  if (!block) return undefined;
  const { ballots } = followed(run, block);
  const voters = ballots
    .sort((one, other) => one.agent - other.agent)
    .map(({ agent, ...rest }) => ({ ...run.agents[agent]!, ...rest }));
  return {
    block_hash: block.hash,
    electors: block.electors,
    electorate: voters.map(({ id, public_key, weight }) => ({ agent_id: id, public_key, weight })),
    votes: voters.map(({ public_key, decision, reason }) => ({
      public_key,
      vote: { block_hash: block.hash, decision, reason },
    })),
    next_cursor: null,
  };
}

export interface ArchiveResponse {
  status: number;
  /** JSON, or a meme's content. */
  body: string | Uint8Array<ArrayBuffer>;
}

export interface ArchiveRequest {
  path: string;
  method: string;
}

export function answerRequest(run: Run, asked: ArchiveRequest): ArchiveResponse {
  try {
    const found = foundIn(run, asked);
    return { status: 200, body: found instanceof Uint8Array ? found : jsonOf({ data: found }) };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { status, message, reason } = error;
    return { status, body: jsonOf({ error: { message, details: { reason } } }) };
  }
}

const jsonOf = JSON.stringify as (value: unknown) => string;

function foundIn(run: Run, { path, method }: ArchiveRequest): object | Uint8Array<ArrayBuffer> {
  const { pathname, searchParams } = new URL(path, 'http://file');
  for (const [pattern, route] of method === 'GET' ? routes : []) {
    const [whole, item = ''] = pattern.exec(pathname) ?? [];
    if (whole === undefined) continue;
    const found = route(run, decodeURIComponent(item), searchParams);
    if (found !== undefined) return found;
  }
  throw missing('NOT_IN_FILE');
}

const missing = (problem: 'NOT_IN_FILE' | 'PAST_NOT_IN_FILE', reason = 'NOT_IN_FILE') =>
  new RefusedError(problem, { status: 404, reason });

type Route = (
  run: Run,
  item: string,
  query: URLSearchParams,
) => object | Uint8Array<ArrayBuffer> | undefined;

const control: Route = ({ kept }) => ({
  kind: 'folder',
  clock: { holds: 'nothing', paused: false, speed: null },
  can: [],
  knows: kept.groups ? ['scenario'] : [],
});

const scenario: Route = ({ kept: { about, groups, labels }, agents }) =>
  groups
    ? {
        ...about,
        groups: groups.names.map((name, place) => ({
          name,
          agents: agents.filter(({ number }) => groups.of[number] === place).map(({ id }) => id),
        })),
        labels,
      }
    : undefined;

/** Returns an agent's data at the last entry, because the file contains no earlier states. */
const standing =
  (shown: (run: Run, agent: AgentRow) => object): Route =>
  (run, id, query) => {
    if (query.has('at')) throw missing('PAST_NOT_IN_FILE', 'NO_HISTORY');
    const agent = run.agent(id);
    return agent && shown(run, agent);
  };

const profile = standing(({ kept, registered }, { number }) => ({
  description: kept.agents.description[number],
  reason: kept.agents.reason[number],
  registration_time: new Date(registered[number]!).toISOString(),
}));

const scores = standing(({ kept }, { number }) => {
  const [overall_score, meme_quality, decision_consistency, peer_ratings, alliance_strength] =
    kept.agents.scores[number]!;
  return { overall_score, meme_quality, decision_consistency, peer_ratings, alliance_strength };
});

const content: Route = (run, id) => {
  const meme = run.meme(id);
  const kept = meme && run.kept.memes[meme.number];
  if (!kept) return undefined;
  return 'text' in kept ? new TextEncoder().encode(kept.text) : decodeBase64(kept.base64);
};

const routes: readonly (readonly [RegExp, Route])[] = [
  [/^\/api\/v1\/control$/, control],
  [/^\/api\/v1\/scenario$/, scenario],
  [/^\/api\/v1\/agents\/([^/]+)$/, profile],
  [/^\/api\/v1\/social\/reputation\/([^/]+)$/, scores],
  [/^\/api\/v1\/blocks\/([^/]+)$/, blockData],
  [/^\/api\/v1\/blocks\/([^/]+)\/votes$/, votesOn],
  [/^\/api\/v1\/social\/memes\/([^/]+)\/content$/, content],
];
