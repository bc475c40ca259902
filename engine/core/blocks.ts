/** Open blocks with their actors, ballots and proposals. Only the store contains closed blocks. */

import { assertInvariant } from '../protocol/invariants.js';
import { blockOf } from '../protocol/schema/block.js';
import type { ProposeCommand, VoteCommand } from '../protocol/schema/command.js';
import type { EventData } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type BlockStatus, type Decision, formatInstant } from '../protocol/schema/primitives.js';
import type { BlockContext } from '../protocol/schema/record.js';
import { type NetworkRule, ruleOf } from '../rules/network-rule.js';
import { PollCounter } from '../rules/poll-counter.js';
import type { Ended, PollBlock, Verdict } from '../rules/rule.js';
import type { Agents } from './agents.js';
import { type Actor, setup } from './bundled/xstate.js';
import { type Outbox, startActor, type UnknownEvent } from './changes.js';
import type { Electorate } from './electorates.js';

export interface OpenBlock {
  readonly hash: string;
  readonly proposal: ProposeCommand;
  readonly ballots: Ballots;
  readonly actor: Actor<typeof blockMachine>;
}

/** Returns a block's record. The tally is set when the block closes. */
export const blockContext = (block: OpenBlock): BlockContext => block.actor.getSnapshot().context;

/** The part of a block that its rule sees. */
export const pollBlockOf = ({ block_hash, height, options = [] }: BlockContext): PollBlock => ({
  hash: block_hash,
  height,
  options,
});

export type ClosingVerdict = Verdict & { status: Ended };

const isClosing = (verdict: Verdict): verdict is ClosingVerdict => verdict.status !== null;

export class Blocks {
  readonly #open = new Map<string, OpenBlock>();
  readonly #agents: Agents;
  readonly #outbox: Outbox;
  readonly rule: NetworkRule;
  /** Number of blocks proposed since genesis. */
  count: number;

  constructor(genesis: Genesis, agents: Agents, outbox: Outbox, count: number) {
    this.#agents = agents;
    this.#outbox = outbox;
    this.rule = ruleOf(genesis);
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

  /** Returns the verdict on a block; null while the block is open, never null at the deadline. */
  verdict({ ballots }: OpenBlock, atDeadline = false): ClosingVerdict | null {
    const verdict = ballots.counter.verdict(atDeadline);
    return isClosing(verdict) ? verdict : null;
  }

  /** Returns the minimum number of further votes that close a block; 0 if the block is not open. */
  votesUntilClose(hash: string): number {
    return this.#open.get(hash)?.ballots.counter.votesUntilClose() ?? 0;
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
      ballots: new Ballots(this.rule, pollBlockOf(context), electorate, this.#agents),
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

/** Counted votes on a block, in weights, except `voted` and `electors`, which count agents. */
export type Tally = Pick<
  BlockContext,
  'approve' | 'reject' | 'total' | 'voted' | 'electors' | 'vetoed'
>;

class Ballots {
  readonly electorate: Electorate;
  readonly counter: PollCounter;
  readonly #agents: Agents;
  readonly #choices: Uint8Array;
  /** Positions of the voters that refer to a meme, by meme. */
  readonly references = new Map<string, number[]>();

  constructor(rule: NetworkRule, block: PollBlock, electorate: Electorate, agents: Agents) {
    this.electorate = electorate;
    this.counter = new PollCounter(rule, block, electorate);
    this.#agents = agents;
    this.#choices = new Uint8Array(electorate.agents.length);
  }

  get tally(): Tally {
    // Members are listed, because every vote reads the tally and a spread takes ten times as long.
    const { approve, reject, total, voted, electors, vetoes } = this.counter.counts;
    return { approve, reject, total, voted, electors, vetoed: vetoes > 0 };
  }

  choice(position: number): Decision | null {
    const code = this.#choices[position];
    if (code === codes.approve) return 'approve';
    return code === codes.reject ? 'reject' : null;
  }

  /** Counts a vote, which must be the voter's first. `ms` is the time since the proposal. */
  cast(position: number, vote: Pick<VoteCommand, 'decision' | 'ballot'>, ms: number): void {
    const { decision, ballot } = vote;
    assertInvariant(this.#choices[position] === 0, 'VOTE_TWICE', position, decision);
    this.#choices[position] = codes[decision];
    const { id: agent_id, personality } = this.#agents.at(this.electorate.agents[position]!);
    if (this.counter.isByWeight) this.counter.count(position, decision, personality);
    else this.counter.add({ elector: position, agent_id, personality, decision, ballot, ms });
  }

  /** Records the memes to which a voter refers. */
  refer(position: number, memes: readonly string[]): void {
    for (const meme of memes) {
      const voters = this.references.get(meme);
      if (voters) voters.push(position);
      else this.references.set(meme, [position]);
    }
  }
}

/*
 * A block's states: voting, then one of four final states. The policy decides the final state from
 * the ballots.
 */

export type BlockEnd = Exclude<BlockStatus, 'voting'>;

/** Members of a block that only some rules set. */
export type RuleOutcome = Pick<Verdict, 'choice' | 'standings' | 'fault'>;

/** Returns the members of a verdict that are set. */
export function outcomeOf({ choice, standings, fault }: RuleOutcome): RuleOutcome {
  return {
    ...(choice === undefined ? {} : { choice }),
    ...(standings === undefined ? {} : { standings }),
    ...(fault === undefined ? {} : { fault }),
  };
}

type BlockEvent =
  | { type: 'proposed'; data: EventData['block_proposal'] }
  | { type: BlockEnd; at: number; tally: Tally; outcome: RuleOutcome };

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
  'tally' in event ? { ...event.tally, ...event.outcome, closed_at: event.at } : {},
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
      ...outcomeOf(context),
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
