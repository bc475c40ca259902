/** The engine's state, and the outcomes of commands. Only log entries change the state. */

import { limits } from '../protocol/limits.js';
import type { Command, ProposeCommand } from '../protocol/schema/command.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type BlockStatus, GENESIS_HASH } from '../protocol/schema/primitives.js';
import {
  type Refusal,
  type RefusalArgs,
  type RefusalKey,
  refuse,
} from '../protocol/schema/reason.js';
import type { AllianceThen, BlockContext, Head, RecordOf } from '../protocol/schema/record.js';
import type { Answer } from '../protocol/schema/view.js';
import { type Agent, Agents, Deadlines, Standings } from './agents.js';
import { Alliances } from './alliances.js';
import { Blocks, blockContext, type Tally } from './blocks.js';
import { Changes, Outbox, type Reader } from './changes.js';
import { Electorates } from './electorates.js';

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
   * Head at which a proposal's transactions were found to contain no duplicate. The result holds
   * until the next block is finalized.
   */
  readonly lookedUp: WeakMap<ProposeCommand['transactions'], string>;
  /** Height and hash of the last finalized block, and time of the next metrics report (0: none). */
  height: number;
  headHash: string;
  metricsAt: number;
  /** Consecutive failed voting periods, and the number of blocks at the last counted failure. */
  failed: number;
  failedBlocks: number;
  /** Time and sequence number of the entry being applied. */
  now: number;
  entry: number;
}

export const METRICS = 'metrics';

interface StateOptions {
  head?: Head;
  /** Receives the changed records. Default: a list for each entry. */
  changes?: Changes;
}

export function newState(
  genesis: Genesis,
  reader: Reader,
  { head, changes = new Changes() }: StateOptions = {},
): State {
  const outbox = new Outbox();
  const deadlines = new Deadlines();
  const agents = new Agents(outbox);
  const standings = new Standings();
  const alliances = new Alliances(outbox, deadlines);
  return {
    genesis,
    reader,
    outbox,
    changes,
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

/** Returns true if the head equals `getHead(state)`. Runs after every entry. */
export function isHead(state: State, head: Head): boolean {
  return (
    head.height === state.height &&
    head.head_hash === state.headHash &&
    head.agents === state.agents.count &&
    head.blocks === state.blocks.count &&
    head.electorates === state.electorates.count &&
    head.metrics_at === state.metricsAt &&
    head.failed === state.failed &&
    head.failed_blocks === state.failedBlocks
  );
}

/**
 * Outcome of a command.
 *
 * - `accepted`: applied and logged; `data` is the response.
 * - `duplicate`: applied earlier; `data` is the current record. Nothing changes.
 * - `refused`: nothing changes, and nothing is logged.
 * - `equivocation`: a second, conflicting vote. The caller gets a refusal, but the vote is logged
 *   as signed evidence.
 */
export type Outcome =
  | { result: 'accepted'; data: Answer }
  | { result: 'duplicate'; data: Answer }
  | { result: 'refused'; refusal: Refusal }
  | { result: 'equivocation'; refusal: Refusal };

/** Result of a check: a plan for the effect, or an outcome that changes nothing. */
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

export function refuseUnknownMeme(state: State, references: readonly string[]) {
  if (references.length === 0) return null;
  const id = references.find((meme) => !state.reader.read('memes', meme));
  if (id === undefined) return null;
  const more = { pointer: '/meme_references', details: { meme_id: id } };
  return refusedOutcome('MEME_UNKNOWN', { id }, more);
}

export interface BlockState {
  status: BlockStatus;
  context: BlockContext;
  /** Tally of all votes so far. The tally in `context` is set when the block closes. */
  tally: Readonly<Tally>;
}

/** Returns an open or closed block. */
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

/**
 * Finds an earlier discussion or alliance request. These requests have no content id, so the hash
 * of the signing input is stored.
 *
 * @returns the stored request if it was accepted within `limits.requestMemoryMs`.
 */
export function findRemembered(state: State, requestId: string): RecordOf['requests'] | undefined {
  const first = state.reader.read('requests', requestId);
  return first && state.now - first.at <= limits.requestMemoryMs ? first : undefined;
}

/** `alliance` is the alliance after the request. */
export function rememberRequest(state: State, requestId: string, alliance?: AllianceThen): void {
  state.changes.put('requests', requestId, {
    ...(alliance ? { alliance } : {}),
    at: state.now,
  });
}

export interface FinalizedCount {
  at: number;
  count: number;
}

/** Computes transactions per second over (now - window, now], truncated to two decimals. */
export function computeTps(recent: readonly FinalizedCount[], now: number): number {
  const after = now - limits.throughputWindowMs;
  const sum = recent.reduce((all, { at, count }) => (at > after ? all + count : all), 0);
  return Math.trunc((sum * 100) / (limits.throughputWindowMs / 1000)) / 100;
}

class Throughput {
  /** Replaced, never mutated, because committed views keep a reference to the array. */
  recent: readonly FinalizedCount[] = [];

  /** Adds a count. Times never decrease, and counts for the same instant are merged. */
  add(at: number, count: number): void {
    if (count === 0) return;
    const kept = this.recent.filter((one) => one.at > at - limits.throughputWindowMs);
    const last = kept.at(-1)?.at === at ? kept.pop() : undefined;
    this.recent = [...kept, { at, count: count + (last?.count ?? 0) }];
  }

  /**
   * Returns the time of the next report at or after `from`: the next multiple of the interval, or
   * the instant at which the rate drops to zero if that is sooner. Returns 0 if the rate is zero
   * and a report has said so.
   */
  nextReport(from: number): number {
    const last = this.recent.at(-1);
    const zeroAt = (last?.at ?? 0) + limits.throughputWindowMs;
    if (!last || zeroAt <= from) return 0;
    const interval = limits.metricsIntervalMs;
    return Math.min(Math.ceil(from / interval) * interval, zeroAt);
  }
}
