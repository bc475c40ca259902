/** A scripted agent: who it is, and what it keeps between its calls. */
import type { Signatory } from '../../engine/index.js';
import type { Stream, Streams } from '../streams.js';
import type { World } from '../world.js';
import { type Personality, personalities } from './personalities.js';

export interface ScriptedAgent {
  ordinal: number;
  name: string;
  personalityName: string;
  personality: Personality;
  producer: boolean;
  by: Signatory;
  /** Has set its status to something else than active. */
  onBreak: boolean;
  /** Numbers its turns to produce: only the latest counts. */
  turn: number;
  /** The agent's own chance for a purpose. */
  chance(purpose: string): Stream;
}

export function scriptedAgent(
  ordinal: number,
  personalityName: string,
  producer: boolean,
  by: Signatory,
  streams: Streams,
): ScriptedAgent {
  const personality = personalities[personalityName]!;
  const name = `${personalityName}-${ordinal}`;
  const chance = (purpose: string) => streams.of(ordinal, purpose);
  return {
    ordinal,
    name,
    personalityName,
    personality,
    producer,
    by,
    onBreak: false,
    turn: 0,
    chance,
  };
}

/** Calls the producer for its next turn; whatever call was pending is void. */
export function takeTurn(agent: ScriptedAgent, world: World, at: number): void {
  agent.turn += 1;
  world.wake(agent.ordinal, at, { what: 'produce', turn: agent.turn });
}
