/** Strategies that attack nobody: simple rules in place of a personality's judgement. */
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import { produce } from '../actions/produce.js';
import { callToVote, castVote, judge, opposite } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { BlockTalk } from '../port/known.js';
import type { World } from '../port/world.js';
import { byPersonality } from './personality.js';

const onContent = { by: 'content' } as const;
const onNeighbours = { by: 'neighbours' } as const;

/** Looks at the content alone, always votes, and makes sound blocks. */
export const honest = ({ soundness }: StrategyOf<'honest'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    const decision = block.soundness >= soundness ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision, basis: onContent });
  },
  produce: (agent, world) => produce(agent, world, { care: 1 }),
});

/** How many more of the received votes approve than reject. */
function receivedBalance(agent: ScriptedAgent, world: World, block: BlockTalk) {
  const votes = world.receivedVotes(agent.ordinal, block.hash);
  const approving = votes.filter(({ decision }) => decision === 'approve').length;
  return { received: votes.length, balance: 2 * approving - votes.length };
}

export const contrarian: Strategy = {
  ...byPersonality,
  vote(agent, world, block) {
    const { balance } = receivedBalance(agent, world, block);
    const majority = balance === 0 ? (block.soundness >= 50 ? 1 : -1) : balance;
    const decision = opposite(majority > 0 ? 'approve' : 'reject');
    const basis = balance === 0 ? onContent : onNeighbours;
    castVote(agent, world, block, { decision, withoutMemes: decision, basis });
  },
};

const LISTEN_AGAIN_MS = 500;

/** Waits for others' votes, and votes as most of them. */
export const follower = ({ hears, patience_ms }: StrategyOf<'follower'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block, round) {
    const { received, balance } = receivedBalance(agent, world, block);
    const patient = round * LISTEN_AGAIN_MS < patience_ms;
    if (received < hears && patient) {
      callToVote(agent, world, block, LISTEN_AGAIN_MS, round + 1);
    } else if (received < hears || balance === 0) {
      castVote(agent, world, block, judge(agent, world, block));
    } else {
      const decision = balance > 0 ? 'approve' : 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, basis: onNeighbours });
    }
  },
});

export const lazy = ({ effort }: StrategyOf<'lazy'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    if (!agent.rng('effort', block).chance(effort)) return;
    castVote(agent, world, block, { decision: 'approve', withoutMemes: 'approve' });
  },
});

export const flipFlop: Strategy = {
  ...byPersonality,
  vote(agent, world, block) {
    const decision = agent.votes % 2 === 0 ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
};

export const silent: Strategy = {
  ...byPersonality,
  vote() {},
};
