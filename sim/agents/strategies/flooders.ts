/** Strategies of producers that want nothing in the chain, only that others have no room in it. */
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import { produce } from '../actions/produce.js';
import { callToVote, castVote } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { World } from '../port/world.js';
import { byPersonality } from './personality.js';

/** Proposes what never adds up, whoever else does, and comes back before its turn. */
function flood(agent: ScriptedAgent, world: World, everyMs: number): void {
  produce(agent, world, { care: 0, insists: true });
  const { ordinal, turn } = agent;
  world.schedule(ordinal, world.now + everyMs, { type: 'produce', turn });
}

/** Votes for its own group's blocks alone: it finalizes them once all others are out of votes. */
export const voteExhauster = ({ every_ms }: StrategyOf<'vote_exhauster'>): Strategy => ({
  ...byPersonality,
  hear: (agent, world, block) => callToVote(agent, world, block, 1),
  vote(agent, world, block) {
    if (world.groupOf(block.producer) !== agent.group.group) return;
    castVote(agent, world, block, { decision: 'approve', withoutMemes: 'approve' });
  },
  produce: (agent, world) => flood(agent, world, every_ms),
});

export const slotHolder = ({ every_ms }: StrategyOf<'slot_holder'>): Strategy => ({
  ...byPersonality,
  hear() {},
  vote() {},
  produce: (agent, world) => flood(agent, world, every_ms),
});
