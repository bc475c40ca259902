/**
 * The whole state of one engine, and the outcomes that commands return. Only commands change the
 * state.
 */

import type { RefusalKey } from '../protocol/refusals.js';
import type { Command, ProposeCommand } from '../protocol/schema/command.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type BlockStatus, GENESIS_HASH } from '../protocol/schema/primitives.js';
import { type Refusal, type RefusalArgs, refuse } from '../protocol/schema/reason.js';
import type { BlockContext, Head } from '../protocol/schema/record.js';
import type { Answer } from '../protocol/schema/view.js';
import { type Agent, Agents, Deadlines, Standings } from './agents.js';
import { Alliances } from './alliances.js';
import { Blocks, blockContext } from './blocks.js';
import { Changes, Outbox, type Reader } from './changes.js';
import { Electorates } from './electorates.js';
import type { Tally } from './quorum.js';
import { Throughput } from './throughput.js';

export interface State {
  readonly genesis: Genesis;
  readonly reader: Reader;
  readonly outbox: Outbox;
  readonly changes: Changes;
  readonly deadlines: Deadlines;
  readonly agents: Agents;
  readonly standings: Standings;
  readonly alliances: Alliances;
  readonly electorates: Electorates;
  readonly blocks: Blocks;
  readonly throughput: Throughput;
  /**
   * Transactions among which no duplicate was found, and the head at which they were looked up:
   * only another final block changes that.
   */
  readonly lookedUp: WeakMap<ProposeCommand['transactions'], string>;
  /** Finalized height and head, and when metrics are due (0: never). */
  height: number;
  headHash: string;
  metricsAt: number;
  /** Failed voting periods in a row, and how many blocks there were when the last was counted. */
  failed: number;
  failedBlocks: number;
  /** Of the entry being applied. */
  now: number;
  entry: number;
}

export const METRICS = 'metrics';

export function newState(genesis: Genesis, reader: Reader, head?: Head): State {
  const outbox = new Outbox();
  const deadlines = new Deadlines();
  const agents = new Agents(outbox);
  const standings = new Standings();
  const alliances = new Alliances(outbox, deadlines);
  return {
    genesis,
    reader,
    outbox,
    changes: new Changes(),
    deadlines,
    agents,
    standings,
    alliances,
    electorates: new Electorates({ genesis, agents, alliances, standings, reader }),
    blocks: new Blocks(genesis, agents, outbox, head?.blocks ?? 0),
    throughput: new Throughput(),
    lookedUp: new WeakMap(),
    height: head?.height ?? 0,
    headHash: head?.head_hash ?? GENESIS_HASH,
    metricsAt: head?.metrics_at ?? 0,
    failed: head?.failed ?? 0,
    failedBlocks: head?.failed_blocks ?? 0,
    now: 0,
    entry: 0,
  };
}

export function getHead(state: State): Head {
  return {
    height: state.height,
    head_hash: state.headHash,
    agents: state.agents.count,
    blocks: state.blocks.count,
    electorates: state.electorates.count,
    metrics_at: state.metricsAt,
    failed: state.failed,
    failed_blocks: state.failedBlocks,
  };
}

/**
 * What became of a command; each has exactly one.
 *
 * - `accepted`: done, logged; `data` is the answer.
 * - `duplicate`: it had been done before; `data` is the present record, and nothing changed.
 * - `refused`: nothing changed, nothing is logged.
 * - `equivocation`: a second, different vote: refused to the caller, yet logged, because the signed
 * evidence counts.
 */
export type Outcome =
  | { result: 'accepted'; data: Answer }
  | { result: 'duplicate'; data: Answer }
  | { result: 'refused'; refusal: Refusal }
  /** Refused to the caller, yet logged: the signed evidence counts. */
  | { result: 'equivocation'; refusal: Refusal };

/** Either what the effect needs, or an outcome that changes nothing. */
export type Precheck<P> = { plan: P } | { outcome: Outcome };

export interface CommandRule<C extends Command, P> {
  check(state: State, command: C): Precheck<P>;
  effect(state: State, command: C, plan: P): Outcome;
}

export function refusedOutcome<K extends RefusalKey>(
  key: K,
  ...args: RefusalArgs<K>
): { outcome: Outcome } {
  return { outcome: { result: 'refused', refusal: refuse(key, ...args) } };
}

/** A repeat gets the current record. */
export function repeatedOutcome(data: Answer): { outcome: Outcome } {
  return { outcome: { result: 'duplicate', data: { ...data, duplicate: true } } };
}

export function acceptedOutcome(data: Answer): Outcome {
  return { result: 'accepted', data };
}

export function refuseInactive(agent: Agent): ReturnType<typeof refusedOutcome> | null {
  const { id, status } = agent;
  return status === 'active' ? null : refusedOutcome('AGENT_NOT_ACTIVE', { agent_id: id, status });
}

/** Refuses the first reference to a meme that does not exist. */
export function refuseUnknownMeme(state: State, references: readonly string[]) {
  const id = references.find((meme) => !state.reader.read('memes', meme));
  if (id === undefined) return null;
  const more = { pointer: '/meme_references', details: { meme_id: id } };
  return refusedOutcome('MEME_UNKNOWN', { id }, more);
}

export interface BlockState {
  status: BlockStatus;
  context: BlockContext;
  /** Of all votes so far; that of the context is the last one. */
  tally: Readonly<Tally>;
}

/** A block as it stands, open or closed long ago. */
export function getBlock(state: State, hash: string): BlockState | undefined {
  const open = state.blocks.get(hash);
  if (open) return { status: 'voting', context: blockContext(open), tally: open.ballots.tally };
  const closed = state.reader.read('blocks', hash);
  return closed && { status: closed.state, context: closed.context, tally: closed.context };
}

export function refuseUnknownBlock(hash: string): Precheck<never> {
  return refusedOutcome('BLOCK_UNKNOWN', { id: hash }, { pointer: '/block_hash' });
}

export function refuseVotingClosed({ status, context }: BlockState): Precheck<never> {
  const { block_hash, height } = context;
  const details = { block_status: status, height };
  return refusedOutcome('BLOCK_CLOSED', { block_hash, status, height }, { details });
}
