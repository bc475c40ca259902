/** What a script of a user's own sees when its agent is called, and the module's interface. */
import type { Stream } from '../../rng.js';
import type { ScriptedAgent } from '../port/agent.js';
import type { BlockTalk, ReceivedMeme, ReceivedVote } from '../port/known.js';
import type { World } from '../port/world.js';
import type { ScriptCommand } from './commands.js';

/** A block in voting as the agent knows it. */
export interface ScriptBlock {
  hash: string;
  /** Ordinal of its producer, -1 for a stranger; and the group of it, '' for a stranger. */
  producer: number;
  producerGroup: string;
  /** Percent of its transactions that add up. */
  soundness: number;
  hasMeme: boolean;
  /** Milliseconds since it was proposed. */
  ageMs: number;
  /** Neighbours' votes that the agent has received. */
  votes: readonly ReceivedVote[];
  /** Memes about it that the agent has received. */
  memes: readonly ReceivedMeme[];
}

/** What a scripted agent sees when its function is called. */
export interface ScriptView {
  /** Milliseconds since the run began. */
  nowMs: number;
  me: { ordinal: number; id: string; name: string; group: string; personality: string };
  /** Has set its status to something else than active. */
  onBreak: boolean;
  neighbours: readonly number[];
  /** Ids of the alliances that it is a member of. */
  alliances: readonly string[];
  /** The head as the agent knows it; contested when it knows of a block in voting on it. */
  head: { hash: string; contested: boolean };
  /** The block that the call is about, in `hear` and `vote`. */
  block: ScriptBlock | null;
  /** Counts the calls of `vote` for this block, from 0. */
  round: number;
  /** The alliance that it is invited to, in `invited`. */
  alliance: string | null;
  /** `parameters` of the strategy in the scenario. */
  parameters: Readonly<Record<string, unknown>>;
  /** The agent's own notes: whatever the script puts there is there at its next call. */
  memory: Record<string, unknown>;
  /** Ordinals of a group's agents, or the group of an agent. */
  groupOf(agent: number): string;
}

/** A function of a script: what the agent sees and its own random stream, to what it does. */
export type ScriptFunction = (
  view: ScriptView,
  rng: Stream,
) => ScriptCommand | readonly ScriptCommand[] | null | undefined;

/**
 * A module of a user's own. Each function is called with what the agent sees and its own random
 * stream, and gives what it does; a function that is left out acts by the agent's personality. A
 * script must draw all its random numbers from the stream and read no clock: the same seed gives
 * the same bytes only then, which `--check-determinism` checks.
 */
export interface ScriptModule {
  hear?: ScriptFunction;
  vote?: ScriptFunction;
  produce?: ScriptFunction;
  mingle?: ScriptFunction;
  invited?: ScriptFunction;
}

export interface Occasion {
  block?: BlockTalk;
  round?: number;
  alliance?: string;
}

export function viewOf(
  agent: ScriptedAgent,
  world: World,
  { block, round = 0, alliance }: Occasion,
  kept: Pick<ScriptView, 'parameters' | 'memory'>,
): ScriptView {
  const { ordinal, name, group, personalityName, onBreak } = agent;
  const me = { ordinal, name, group: group.group, personality: personalityName };
  return {
    ...kept,
    nowMs: world.now - world.startMs,
    me: { ...me, id: world.agentId(ordinal) },
    onBreak,
    neighbours: world.neighbours(ordinal),
    alliances: world.alliancesOf(ordinal),
    head: world.head(ordinal),
    block: block ? blockView(ordinal, world, block) : null,
    round,
    alliance: alliance ?? null,
    groupOf: (other) => world.groupOf(other),
  };
}

function blockView(agent: number, world: World, block: BlockTalk): ScriptBlock {
  const { hash, producer, soundness, hasMeme, proposedAt } = block;
  return {
    hash,
    producer,
    producerGroup: world.groupOf(producer),
    soundness,
    hasMeme,
    ageMs: world.now - proposedAt,
    votes: world.receivedVotes(agent, hash),
    memes: world.receivedMemes(agent, hash),
  };
}
