/** Applies row batches to a snapshot, on the server, in files and in the page's worker. */

import { blockStatuses, statuses } from '../../engine/protocol/event-types.js';
import { viewRangeError } from './messages.js';
import {
  type AgentRow,
  type BlockSnapshot,
  rowCode as code,
  type Introductions,
  type RowBatch,
  rowKinds,
  type Snapshot,
  viewLimits,
  viewRows,
} from './model.js';
import { firstRow, isEvent } from './row-batch.js';

/** Network parameters, which are part of snapshots. */
export type NetworkParameters = Pick<
  Snapshot,
  'network_id' | 'epoch' | 'policy' | 'weights' | 'participation_bps' | 'rule'
>;

/** Initial reputation, in millionths. */
const FIRST_REPUTATION = 500_000;

/** Returns the snapshot before entry 0. */
export function createEmptySnapshot(of: NetworkParameters): Snapshot {
  return {
    ...of,
    entry: -1,
    at: 0,
    event_seq: 0,
    digest: '',
    log_digest: '',
    height: 0,
    agents: [],
    blocks: [],
    alliances: [],
    memes: [],
    said: [],
    totals: {
      proposed: 0,
      finalized: 0,
      rejected: 0,
      expired: 0,
      orphaned: 0,
      votes: 0,
      memes: 0,
      alliances: 0,
      remarks: 0,
      transactions: 0,
    },
  };
}

const newAgent = (row: AgentRow) => ({
  ...row,
  status: 'active',
  dormant: false,
  reputation: FIRST_REPUTATION,
  votes: 0,
  memes: 0,
  blocks_produced: 0,
});

/**
 * Applies a batch to a snapshot, up to the end of the batch or the entry `upTo`. Returns the
 * snapshot, which is modified in place, including its agents and blocks. Skips entries already in
 * the snapshot. @throws {RangeError} if the batch does not follow the snapshot, ends before it, or
 * refers to an unknown agent or block. The snapshot must then be read again.
 */
export function applyRowBatch(snapshot: Snapshot, batch: RowBatch, upTo = batch.to): Snapshot {
  const { rows, introduced } = batch;
  const last = Math.min(upTo, batch.to);
  if (batch.from > snapshot.entry + 1) {
    throw viewRangeError('ENTRIES_MISSING', { from: snapshot.entry + 1, to: batch.from - 1 });
  }
  if (last < snapshot.entry) {
    throw viewRangeError('SNAPSHOT_AHEAD', { entry: snapshot.entry, to: last });
  }
  const start = firstRow(batch, snapshot.entry + 1);
  const end = last === batch.to ? rows.entry.length : firstRow(batch, last + 1);
  const next = { agents: 0, blocks: 0, memes: 0, alliances: 0 };
  if (start > 0) passOver(rows.kind.subarray(0, start), next);
  const fold = new Fold(snapshot);
  let events = 0;
  for (let index = start; index < end; index += 1) {
    const kind = rows.kind[index]!;
    const who = rows.who[index]!;
    const what = rows.what[index]!;
    const value = rows.value[index]!;
    if (isEvent(kind)) events += 1;
    if (kind === code.block_validation) fold.vote(who, what, value);
    else if (kind === code.registered) fold.register(introduced.agents[next.agents++]!);
    else if (kind === code.block_proposal) {
      const block = introduced.blocks[next.blocks++]!;
      snapshot.blocks.push({ ...block, ...unvoted() });
      snapshot.totals.proposed += 1;
    } else if (kind === code.block_status) fold.close(what, value, rows.at[index]!);
    else if (kind === code.consensus_discussion) snapshot.totals.remarks += 1;
    else if (kind === code.alliance_update) fold.ally(introduced.alliances[next.alliances++]!);
    else if (kind === code.agent_status) fold.agent(who).status = nameOf(statuses, value);
    else if (kind === code.meme_posted) {
      snapshot.memes.push(introduced.memes[next.memes++]!);
      snapshot.totals.memes += 1;
      fold.agent(who).memes += 1;
    } else if (kind === code.reputation_update) fold.agent(who).reputation = value;
    else if (kind === code.dormancy) fold.agent(who).dormant = value === 1;
  }
  for (const one of batch.said) {
    if (one.entry > snapshot.entry && one.entry <= last) snapshot.said.push(one);
  }
  const whole = last === batch.to;
  snapshot.at = Math.max(snapshot.at, whole ? batch.at : (rows.at[end - 1] ?? 0));
  snapshot.event_seq = whole ? batch.event_seq : snapshot.event_seq + events;
  if (last > snapshot.entry || whole) {
    snapshot.digest = whole ? batch.digest : '';
    snapshot.log_digest = whole ? batch.log_digest : '';
  }
  snapshot.entry = last;
  trim(snapshot);
  return snapshot;
}

/** The list to which a row kind adds an item, by code. */
const listOf = rowKinds.map((kind) => viewRows[kind].introduces);

function passOver(kinds: Uint8Array, next: Record<keyof Introductions, number>): void {
  for (const kind of kinds) {
    const list = listOf[kind];
    if (list) next[list] += 1;
  }
}

const unvoted = () => ({
  status: 'voting',
  approve: 0,
  reject: 0,
  closed_at: null,
  ballots: [] as number[],
});

function nameOf(names: readonly string[], index: number): string {
  const name = names[index];
  if (name === undefined) {
    throw viewRangeError('UNKNOWN_CODE', { code: index, names: names.join(', ') });
  }
  return name;
}

class Fold {
  constructor(private readonly snapshot: Snapshot) {}

  agent(number: number) {
    const agent = this.snapshot.agents[number];
    if (!agent) throw viewRangeError('NOT_IN_SNAPSHOT', { kind: 'agent', number });
    return agent;
  }

  register(row: AgentRow): void {
    const { agents } = this.snapshot;
    if (row.number !== agents.length) {
      throw viewRangeError('AGENT_ORDER', { number: row.number, expected: agents.length });
    }
    agents.push(newAgent(row));
  }

  vote(who: number, what: number, value: number): void {
    const block = this.#block(what);
    const reject = value % 2;
    const weight = (value - reject) / 2;
    if (reject) block.reject += weight;
    else block.approve += weight;
    block.ballots.push(2 * who + reject);
    this.agent(who).votes += 1;
    this.snapshot.totals.votes += 1;
  }

  close(what: number, value: number, at: number): void {
    const { totals } = this.snapshot;
    const block = this.#block(what);
    const status = nameOf(blockStatuses, value) as (typeof blockStatuses)[number];
    block.status = status;
    block.closed_at = at;
    if (status === 'voting') throw viewRangeError('CLOSED_AS_VOTING', { number: what });
    totals[status] += 1;
    if (status !== 'finalized') return;
    this.snapshot.height = block.height;
    totals.transactions += block.transactions;
    this.agent(block.producer).blocks_produced += 1;
  }

  ally(row: Snapshot['alliances'][number]): void {
    const { alliances, totals } = this.snapshot;
    if (row.number === totals.alliances) {
      totals.alliances += 1;
      alliances.push(row);
      return;
    }
    const place = alliances.findLastIndex(({ number }) => number === row.number);
    if (place < 0) {
      throw viewRangeError('NOT_IN_SNAPSHOT', { kind: 'alliance', number: row.number });
    }
    alliances[place] = row;
  }

  /** Searches from the end, because blocks in voting are the most recent. */
  #block(number: number): BlockSnapshot {
    const { blocks } = this.snapshot;
    for (let index = blocks.length - 1; index >= 0; index -= 1) {
      if (blocks[index]!.number === number) return blocks[index]!;
    }
    throw viewRangeError('NOT_IN_SNAPSHOT', { kind: 'block', number });
  }
}

/** Trims the snapshot to its limits. The result does not depend on batch boundaries. */
function trim(snapshot: Snapshot): void {
  const { blocksShown, alliancesShown, memesShown, saidShown, ballotsShown } = viewLimits;
  snapshot.blocks = newest(snapshot.blocks, blocksShown, ({ status }) => status === 'voting');
  snapshot.alliances = newest(
    snapshot.alliances,
    alliancesShown,
    ({ status }) => status === 'proposed' || status === 'active',
  );
  if (snapshot.memes.length > memesShown) snapshot.memes = snapshot.memes.slice(-memesShown);
  if (snapshot.said.length > saidShown) snapshot.said = snapshot.said.slice(-saidShown);
  let left = ballotsShown;
  for (let index = snapshot.blocks.length - 1; index >= 0; index -= 1) {
    const block = snapshot.blocks[index]!;
    if (block.status === 'voting') continue;
    left -= block.ballots.length;
    if (left < 0 && block.ballots.length > 0) block.ballots = [];
  }
}

/** Keeps all open items and the last `most` other items. */
function newest<T>(all: T[], most: number, isOpen: (one: T) => boolean): T[] {
  let excess = -most;
  for (const one of all) if (!isOpen(one)) excess += 1;
  if (excess <= 0) return all;
  return all.filter((one) => isOpen(one) || --excess < 0);
}
