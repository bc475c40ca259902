/** Strategies that want something of the network that is not its own good. */
import { mix } from '../../rng.js';
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import { produce } from '../actions/produce.js';
import { answer, invite } from '../actions/social.js';
import { callToVote, castVote, judge, postMeme } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import { abstains, byPersonality } from './personality.js';

/** Rounds of its second vote: what that is, is settled with the first. */
const AGAIN = { approve: 1, reject: 2 } as const;

export const equivocator = ({ rate, gap_ms }: StrategyOf<'equivocator'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block, round) {
    if (round > 0) {
      const decision = round === AGAIN.approve ? 'approve' : 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, round });
      return;
    }
    if (abstains(agent, block)) return;
    const ballot = judge(agent, world, block);
    castVote(agent, world, block, ballot);
    if (!agent.rng('equivocation', block).chance(rate)) return;
    const again = ballot.decision === 'approve' ? AGAIN.reject : AGAIN.approve;
    callToVote(agent, world, block, gap_ms, again);
  },
});

/** Votes for its own group's blocks and against all others, whatever is in them. */
export const bloc = ({ honest_blocks }: StrategyOf<'bloc'>): Strategy => ({
  ...byPersonality,
  vote(agent, world, block) {
    const own = world.groupOf(block.producer) === agent.group.group;
    const decision = own ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
  produce: (agent, world) => produce(agent, world, { care: honest_blocks ? 1 : 0 }),
});

export const memeSpammer = ({ memes, stance }: StrategyOf<'meme_spammer'>): Strategy => ({
  ...byPersonality,
  hear(agent, world, block) {
    // A meme that says the same would be a repetition.
    for (let count = 1; count <= memes; count += 1) {
      postMeme(agent, world, block, stance, `${stance} ${block.hash.slice(0, 8)}! (${count})`);
    }
    callToVote(agent, world, block, 1);
  },
  vote(agent, world, block) {
    const received = world.receivedMemes(agent.ordinal, block.hash);
    castVote(agent, world, block, { decision: stance, withoutMemes: stance, memes: received });
  },
});

/** Names the operator's draw. */
const OPERATOR = 0x5b11;

/** Many keys, one will: drawn for each block, the same for the whole group. */
export const sybil = ({ approves }: StrategyOf<'sybil'>): Strategy => ({
  ...byPersonality,
  hear: (agent, world, block) => callToVote(agent, world, block, 1),
  vote(agent, world, block) {
    const { place, number } = block;
    const will = mix(world.seedNumber, OPERATOR, nameNumber(agent), place, number);
    const decision = will < Math.round(approves * 2 ** 32) ? 'approve' : 'reject';
    castVote(agent, world, block, { decision, withoutMemes: decision });
  },
  /** Allies with others of its group, so that they strengthen each other. */
  socialize(agent, world) {
    const { rate, most, invited } = world.scenario.social.alliances;
    if (rate === 0 || world.alliancesOf(agent.ordinal).length >= most) return;
    const { ordinal } = agent;
    const near = Array.from({ length: 2 * invited + 1 }, (_, step) => ordinal - invited + step);
    const ours = near.filter((other) => world.groupOf(other) === agent.group.group);
    invite(agent, world, ours.slice(0, invited + 1));
  },
  invited: (agent, world, alliance) => answer(agent, world, alliance, true),
});

/** A number that follows from the group's name. */
function nameNumber({ group }: ScriptedAgent): number {
  return mix(...Array.from(group.group, (letter) => letter.charCodeAt(0)));
}

/** Leaves the transactions of a group out of its blocks. */
export const censor = ({ against }: StrategyOf<'censor'>): Strategy => ({
  ...byPersonality,
  produce: (agent, world) => produce(agent, world, { leaveOut: against }),
});
