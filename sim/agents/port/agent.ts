/** A scripted agent: who it is, and what it keeps between its calls. */
import type { Signatory } from '../../../engine/internal.js';
import type { Stream, Subject } from '../../rng.js';
import type { Inhabitant } from '../../scenario/population.js';
import type { BlockTalk, ReceivedMessage } from './known.js';
import type { World } from './world.js';

/** How an agent acts when it is called. */
export interface Strategy {
  /** It hears of a block in voting. */
  hear(agent: ScriptedAgent, world: World, block: BlockTalk): void;
  /** It has thought about a block. `round` counts the calls for it, from 0. */
  vote(agent: ScriptedAgent, world: World, block: BlockTalk, round: number): void;
  /** It is its turn to produce. */
  produce(agent: ScriptedAgent, world: World): void;
  /** An occasion for social life. */
  socialize(agent: ScriptedAgent, world: World): void;
  /** It is invited to an alliance. */
  invited(agent: ScriptedAgent, world: World, alliance: string): void;
  /** It has joined, or begins again after a crash. */
  start?(agent: ScriptedAgent, world: World): void;
  /** It wanted to be called again. */
  wake?(agent: ScriptedAgent, world: World): void;
  /** A neighbour has told it something. */
  receive?(agent: ScriptedAgent, world: World, message: ReceivedMessage): void;
}

export interface ScriptedAgent extends Inhabitant {
  by: Signatory;
  strategy: Strategy;
  producer: boolean;
  validator: boolean;
  /** When it joins and leaves for good: times of the run; infinite when it stays. */
  joinsMs: number;
  leavesMs: number;
  /** The network has told that it is registered. */
  joined: boolean;
  /** The network has told that it is gone, after it left for good. */
  left: boolean;
  /** Has set its status to something else than active. */
  onBreak: boolean;
  /** Churn keeps it away: it does not come back by itself. */
  away: boolean;
  /** Numbers its turns to produce: only the latest counts. */
  turn: number;
  /** Votes that it has cast. */
  votes: number;
  /** Proposals that it has sent: with the ordinal, the number of the next one names its draws. */
  proposals: number;
  /** Occasions for social life that it has had. */
  occasions: number;
  /**
   * The agent's own chance for a purpose: one stream for the whole run, or one for each subject.
   * `round` tells apart repeated decisions about the same subject.
   */
  rng(purpose: string, subject?: Subject, round?: number): Stream;
}

/** Between joining and leaving for good: before and after it is not called and hears of nothing. */
export function isHere({ joinsMs, leavesMs }: ScriptedAgent, runMs: number): boolean {
  return joinsMs <= runMs && runMs < leavesMs;
}
