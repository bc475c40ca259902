/** Open blocks with their actors, ballots and proposals. Only the store contains closed blocks. */

import { blockOf } from '../protocol/schema/block.js';
import type { ProposeCommand } from '../protocol/schema/command.js';
import type { EventData } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type BlockStatus, type Decision, formatInstant } from '../protocol/schema/primitives.js';
import type { BlockContext } from '../protocol/schema/record.js';
import type { Agents } from './agents.js';
import { type Actor, setup } from './bundled/xstate.js';
import type { Outbox } from './changes.js';
import type { Electorate } from './electorates.js';
import { startActor, type UnknownEvent } from './machine.js';
import {
  decide,
  neededToFinalize,
  type QuorumDecision,
  type QuorumRule,
  type Tally,
  votesUntilClose,
} from './quorum.js';

export interface OpenBlock {
  readonly hash: string;
  readonly proposal: ProposeCommand;
  readonly ballots: Ballots;
  readonly actor: Actor<typeof blockMachine>;
}

/** Returns a block's record. The tally is set when the block closes. */
export const blockContext = (block: OpenBlock): BlockContext => block.actor.getSnapshot().context;

export class Blocks {
  readonly #open = new Map<string, OpenBlock>();
  readonly #agents: Agents;
  readonly #outbox: Outbox;
  readonly #rule: Genesis;
  /** Number of blocks proposed since genesis. */
  count: number;

  constructor(genesis: Genesis, agents: Agents, outbox: Outbox, count: number) {
    this.#agents = agents;
    this.#outbox = outbox;
    this.#rule = genesis;
    this.count = count;
  }

  get(hash: string): OpenBlock | undefined {
    return this.#open.get(hash);
  }

  /** Returns the open blocks by ascending hash, so that their order does not depend on history. */
  open(): OpenBlock[] {
    return [...this.#open.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  }

  get openCount(): number {
    return this.#open.size;
  }

  propose(input: BlockContext, proposal: ProposeCommand, electorate: Electorate): OpenBlock {
    this.count += 1;
    return this.#add(input, proposal, electorate, { input });
  }

  restore(context: BlockContext, proposal: ProposeCommand, electorate: Electorate): OpenBlock {
    return this.#add(context, proposal, electorate, { state: 'voting', context });
  }

  drop(hash: string): void {
    this.#open.delete(hash);
  }

  /** Returns a block's decision, or null while the block is open; never null at the deadline. */
  decided({ ballots }: OpenBlock, atDeadline = false): QuorumDecision | null {
    return decide(this.#rule, ballots.tally, atDeadline);
  }

  needed(tally: Readonly<Tally>): number {
    return neededToFinalize(this.#rule, tally);
  }

  /** Returns the minimum number of further votes that close a block; 0 if the block is not open. */
  votesUntilClose(hash: string): number {
    const block = this.#open.get(hash);
    if (!block) return 0;
    const { ballots } = block;
    const { largestWeight } = ballots.electorate;
    return votesUntilClose(this.#rule, ballots.tally, largestWeight, ballots.closestVeto());
  }

  #add(
    context: BlockContext,
    proposal: ProposeCommand,
    electorate: Electorate,
    birth: { input: BlockContext } | { state: string; context: BlockContext },
  ): OpenBlock {
    const hash = context.block_hash;
    const block: OpenBlock = {
      hash,
      proposal,
      ballots: new Ballots(this.#rule, electorate, this.#agents),
      actor: startActor(blockMachine, hash, this.#outbox, birth),
    };
    this.#open.set(hash, block);
    return block;
  }
}

/*
 * Votes on an open block, by position in the electorate. Votes are kept outside the block's actor,
 * so a vote sends no event to the actor.
 */

const codes = { approve: 1, reject: 2 } as const;
/** Minimum number of electors with one personality that can veto together. */
const SMALLEST_GROUP = 3;

class Ballots {
  readonly electorate: Electorate;
  readonly #tally: Tally;
  readonly #rule: QuorumRule;
  readonly #agents: Agents;
  readonly #choices: Uint8Array;
  readonly #rejections = new Map<string, number>();
  /** Personalities that can no longer veto, because a member approved. */
  readonly #split = new Set<string>();
  /** Positions of the voters that refer to a meme, by meme. */
  readonly references = new Map<string, number[]>();

  constructor(rule: QuorumRule, electorate: Electorate, agents: Agents) {
    this.electorate = electorate;
    this.#rule = rule;
    this.#agents = agents;
    const { total } = electorate;
    const electors = electorate.agents.length;
    this.#tally = { approve: 0, reject: 0, total, voted: 0, electors, vetoed: false };
    this.#choices = new Uint8Array(electors);
  }

  get tally(): Readonly<Tally> {
    return this.#tally;
  }

  choice(position: number): Decision | null {
    const code = this.#choices[position];
    if (code === codes.approve) return 'approve';
    return code === codes.reject ? 'reject' : null;
  }

  /** Counts a vote, which must be the voter's first. */
  cast(position: number, decision: Decision, references: readonly string[]): void {
    this.#choices[position] = codes[decision];
    this.#tally[decision] += this.electorate.weights[position]!;
    this.#tally.voted += 1;
    for (const meme of references) {
      const voters = this.references.get(meme);
      if (voters) voters.push(position);
      else this.references.set(meme, [position]);
    }
    const { personality } = this.#agents.at(this.electorate.agents[position]!);
    if (decision === 'approve') this.#split.add(personality);
    else if (this.#rejectsAsOne(personality)) this.#tally.vetoed = this.#rule.policy === 'veto';
  }

  /**
   * Returns the smallest number of votes with which a group can veto, or infinity if no group can.
   */
  closestVeto(): number {
    let closest = Number.POSITIVE_INFINITY;
    for (const [personality, size] of this.electorate.groups) {
      if (size < SMALLEST_GROUP || this.#split.has(personality)) continue;
      closest = Math.min(closest, size - (this.#rejections.get(personality) ?? 0));
    }
    return closest;
  }

  /** Positions of the voters, ascending. */
  *voters(): Iterable<number> {
    for (const [position, code] of this.#choices.entries()) if (code !== 0) yield position;
  }

  /** Counts a rejection. Returns true if the whole personality group has now rejected. */
  #rejectsAsOne(personality: string): boolean {
    const rejections = (this.#rejections.get(personality) ?? 0) + 1;
    this.#rejections.set(personality, rejections);
    const size = this.electorate.groups.get(personality) ?? 0;
    return size >= SMALLEST_GROUP && rejections === size;
  }
}

/*
 * A block's states: voting, then one of four final states. The policy decides the final state from
 * the ballots.
 */

/** Final status of a block. */
export type BlockEnd = Exclude<BlockStatus, 'voting'>;

type BlockEvent =
  | { type: 'proposed'; data: EventData['block_proposal'] }
  | { type: BlockEnd; at: number; tally: Tally };

type Emitted =
  | { type: 'block_proposal'; data: EventData['block_proposal'] }
  | { type: 'block_status'; data: EventData['block_status'] }
  | UnknownEvent;

const block = setup({
  types: {
    context: {} as BlockContext,
    input: {} as BlockContext,
    events: {} as BlockEvent,
    emitted: {} as Emitted,
  },
});

const close = block.assign(({ event }) =>
  'tally' in event ? { ...event.tally, closed_at: event.at } : {},
);

const emitStatus = (status: BlockStatus) =>
  block.emit(({ context }) => ({
    type: 'block_status',
    data: {
      ...blockOf(context),
      status,
      approve: context.approve,
      reject: context.reject,
      electorate: context.total,
      transactions: context.transactions,
      timestamp: formatInstant(context.closed_at),
    },
  }));

const unknown = block.emit(({ context, event }) => ({
  type: 'unknown_event',
  actor: context.block_hash,
  event: event.type,
}));

const announce = block.emit(({ context, event }) =>
  event.type === 'proposed'
    ? { type: 'block_proposal', data: event.data }
    : { type: 'unknown_event', actor: context.block_hash, event: event.type },
);

const end = (status: BlockEnd) => ({
  type: 'final' as const,
  entry: [close, emitStatus(status)],
});

const blockMachine = block.createMachine({
  id: 'block',
  context: ({ input }) => input,
  initial: 'voting',
  states: {
    voting: {
      on: {
        proposed: { actions: announce },
        finalized: { target: 'finalized' },
        rejected: { target: 'rejected' },
        expired: { target: 'expired' },
        orphaned: { target: 'orphaned' },
      },
    },
    finalized: end('finalized'),
    rejected: end('rejected'),
    expired: end('expired'),
    orphaned: end('orphaned'),
  },
  on: { '*': { actions: unknown } },
});
