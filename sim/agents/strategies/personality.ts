/** The default strategy: an agent that acts by its personality. */
import { produce } from '../actions/produce.js';
import { answer, happens, socialize } from '../actions/social.js';
import { castVote, judge, leaning, postMeme, think } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';

export const byPersonality: Strategy = {
  /** It may make a meme of a block, and thinks about its vote. */
  hear(agent, world, block) {
    const { rate } = world.scenario.social.memes;
    if (happens(agent, 'memes', agent.personality.memes, rate)) {
      postMeme(agent, world, block, leaning(block.soundness, agent.rng('memes')));
    }
    think(agent, world, block);
  },

  vote(agent, world, block) {
    if (!abstains(agent)) castVote(agent, world, block, judge(agent, world, block));
  },

  produce: (agent, world) => produce(agent, world),
  socialize,

  invited(agent, world, alliance) {
    const accepted = agent.rng('life').chance(agent.personality.accepts);
    answer(agent, world, alliance, accepted);
  },
};

export function abstains(agent: ScriptedAgent): boolean {
  return agent.rng('votes').chance(agent.personality.abstains);
}
