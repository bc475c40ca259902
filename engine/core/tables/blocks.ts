/** Open blocks: actor, ballots and proposal of each. A closed block leaves memory. */
import type { BlockContext, Genesis, ProposeCommand } from '../../protocol/schema/index.js';
import { blockMachine } from '../machines/block.js';
import { startActor } from '../machines/directory.js';
import type { Actor } from '../machines/xstate.js';
import type { Outbox } from '../outbox.js';
import {
  decide,
  neededToFinalize,
  type QuorumDecision,
  type Tally,
  votesUntilClose,
} from '../quorum.js';
import type { Agents } from './agents.js';
import { Ballots } from './ballots.js';
import type { Electorate } from './electorate.js';

export interface OpenBlock {
  readonly hash: string;
  readonly proposal: ProposeCommand;
  readonly ballots: Ballots;
  readonly actor: Actor<typeof blockMachine>;
}

/** Its record. The tally in it is that of its end: until then it is with the ballots. */
export const blockContext = (block: OpenBlock): BlockContext => block.actor.getSnapshot().context;

export class Blocks {
  readonly #open = new Map<string, OpenBlock>();
  readonly #agents: Agents;
  readonly #outbox: Outbox;
  readonly #rule: Genesis;
  /** How many were ever proposed. */
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

  /** By ascending hash: an order that does not depend on how memory was filled. */
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

  /** What its votes come to, or null while they decide nothing; never null at its deadline. */
  decided({ ballots }: OpenBlock, atDeadline = false): QuorumDecision | null {
    return decide(this.#rule, ballots.tally, atDeadline);
  }

  needed(tally: Readonly<Tally>): number {
    return neededToFinalize(this.#rule, tally);
  }

  /** How many further votes close the block at the earliest; 0 when it is not open. */
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
