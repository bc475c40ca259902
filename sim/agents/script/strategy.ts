/** The strategy of a group that follows a script; what it leaves out follows the personality. */
import type { ScriptedAgent, Strategy } from '../port/agent.js';
import type { World } from '../port/world.js';
import { byPersonality } from '../strategies/personality.js';
import type { ScriptModule } from './interface.js';
import type { Occasion } from './view.js';

/** A function that is called for an agent. */
export type Asked = Exclude<keyof ScriptModule, 'report'>;

/** Whether the script has the function; if so, what it says is done. */
export type Ask = (name: Asked, agent: ScriptedAgent, world: World, occasion: Occasion) => boolean;

export const strategyFrom = (ask: Ask): Strategy => ({
  hear: (agent, world, block) =>
    ask('hear', agent, world, { block }) || byPersonality.hear(agent, world, block),
  vote: (agent, world, block, round) =>
    ask('vote', agent, world, { block, round }) || byPersonality.vote(agent, world, block, round),
  produce: (agent, world) =>
    ask('produce', agent, world, {}) || byPersonality.produce(agent, world),
  socialize: (agent, world) =>
    ask('mingle', agent, world, {}) || byPersonality.socialize(agent, world),
  invited: (agent, world, alliance) =>
    ask('invited', agent, world, { alliance }) || byPersonality.invited(agent, world, alliance),
  start: (agent, world) => ask('start', agent, world, {}),
  wake: (agent, world) => ask('wake', agent, world, {}),
  receive: (agent, world, message) => ask('receive', agent, world, { message }),
});
