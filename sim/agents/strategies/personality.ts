/** The default strategy: an agent that acts by its personality. */
import { memeText } from '../actions/content.js';
import { produce } from '../actions/produce.js';
import { answer, happens, socialize } from '../actions/social.js';
import { castVote, judge, leaning, postMeme, think } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { BlockTalk } from '../port/known.js';

export const byPersonality: Strategy = {
  /** It may make a meme of a block, and thinks about its vote. */
  hear(agent, world, block) {
    const { rate } = world.scenario.social.memes;
    const rng = agent.rng('memes', block);
    if (happens(rng, agent.personality.memes, rate)) {
      const stance = leaning(block.soundness, rng);
      postMeme(agent, world, block, stance, memeText(block.hash, stance, rng));
    }
    think(agent, world, block);
  },

  vote(agent, world, block) {
    if (!abstains(agent, block)) castVote(agent, world, block, judge(agent, world, block));
  },

  produce: (agent, world) => produce(agent, world),
  socialize,

  invited(agent, world, alliance) {
    const accepted = agent.rng('answers').chance(agent.personality.accepts);
    answer(agent, world, alliance, accepted);
  },
};

export function abstains(agent: ScriptedAgent, block: BlockTalk): boolean {
  return agent.rng('abstaining', block).chance(agent.personality.abstains);
}
