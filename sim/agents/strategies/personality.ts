/** The usual strategy: an agent that acts by its personality. */

import { produce } from '../actions/produce.js';
import { answer, happens, mingle } from '../actions/social.js';
import { cast, judge, leaning, postMeme, think } from '../actions/voting.js';
import type { ScriptedAgent, Strategy } from '../port/agent.js';

export const town: Strategy = {
  /** It may make a meme of a block, and thinks about its vote. */
  hear(agent, world, block) {
    const { rate } = world.scenario.social.memes;
    if (happens(agent, 'memes', agent.personality.memePermille, rate)) {
      postMeme(agent, world, block, leaning(block.soundness, agent.chance('memes')));
    }
    think(agent, world, block);
  },

  vote(agent, world, block) {
    if (!abstains(agent)) cast(agent, world, block, judge(agent, world, block));
  },

  produce: (agent, world) => produce(agent, world),
  mingle,

  invited(agent, world, alliance) {
    const accepted = agent.chance('life').chance(agent.personality.acceptPermille);
    answer(agent, world, alliance, accepted);
  },
};

export function abstains(agent: ScriptedAgent): boolean {
  return agent.chance('votes').chance(agent.personality.abstainPermille);
}
