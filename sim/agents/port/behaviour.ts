/** What agents do when their world calls on them: a world is given this, and knows no more. */
import type { EventData } from '../../../engine/internal.js';
import type { Subject } from '../../rng.js';
import type { ScriptedAgent } from './agent.js';
import type { ScheduledEvent, World } from './world.js';

export interface Behaviour {
  /** An event that was scheduled for the agent is due. */
  handle(agent: ScriptedAgent, world: World, event: ScheduledEvent): void;
  /** The network has answered or published, at an instant, that the agent is registered. */
  registered(agent: ScriptedAgent, world: World, at: number): void;
  /** The network has told, of an instant, what its status is. */
  told(
    agent: ScriptedAgent,
    world: World,
    at: number,
    status: EventData['agent_status']['status'],
  ): void;
  /** By the open schedule: the producer receives at an instant that a block has closed. */
  blockClosed(agent: ScriptedAgent, world: World, at: number, block: Subject): void;
}

/** Calls agents one after another: `next` calls one, and says whether there are more. */
export type CallLoop = (next: () => boolean) => void;
