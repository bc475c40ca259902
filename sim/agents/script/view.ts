/**
 * Makes what a script sees: frozen copies, so that nothing it writes there changes the world. What
 * costs something is made when it is looked at, and then kept for as long as the call.
 */
import type { ScriptedAgent } from '../port/agent.js';
import type { BlockTalk, ReceivedMessage } from '../port/known.js';
import type { World } from '../port/world.js';
import type { ScriptAgent, ScriptBlock, ScriptView } from './interface.js';

/** What a call is about. */
export interface Occasion {
  block?: BlockTalk;
  round?: number;
  alliance?: string;
  message?: ReceivedMessage;
}

/** What is the same at each call of an agent. */
export interface Kept extends Pick<ScriptView, 'parameters' | 'memory' | 'shared'> {
  me: ScriptAgent;
  neighbours: readonly number[];
  groupOf: ScriptView['groupOf'];
  agentsOf: ScriptView['agentsOf'];
}

export function viewOf(
  agent: ScriptedAgent,
  world: World,
  { block: talk, round = 0, alliance, message }: Occasion,
  kept: Kept,
): ScriptView {
  const { ordinal } = agent;
  const { me, neighbours, parameters, memory, shared, groupOf, agentsOf } = kept;
  const alliances = once(() => Object.freeze([...world.alliancesOf(ordinal)]));
  const allies = once(() => Object.freeze([...world.alliesOf(ordinal)]));
  const head = once(() => Object.freeze({ ...world.head(ordinal) }));
  const view: ScriptView = {
    nowMs: world.now - world.startMs,
    me,
    onBreak: agent.onBreak,
    neighbours,
    get alliances() {
      return alliances();
    },
    get allies() {
      return allies();
    },
    get reputation() {
      return world.reputationOf(ordinal);
    },
    get head() {
      return head();
    },
    block: talk ? blockView(ordinal, world, talk) : null,
    round,
    alliance: alliance ?? null,
    message: message ? Object.freeze({ ...message }) : null,
    parameters,
    memory,
    shared,
    membersOf: (name) => membersOf(ordinal, name, alliance, world),
    groupOf,
    agentsOf,
  };
  return Object.freeze(view);
}

/** Of alliances that the agent has to do with: nobody else's are told to it. */
function membersOf(agent: number, name: string, invited: string | undefined, world: World) {
  const own = name === invited || world.alliancesOf(agent).includes(name);
  return own ? Object.freeze([...world.membersOf(name)]) : nobody;
}

const nobody: readonly number[] = Object.freeze([]);

function blockView(agent: number, world: World, block: BlockTalk): ScriptBlock {
  const { hash, producer, soundness, hasMeme, proposedAt } = block;
  const votes = once(() => frozen(world.receivedVotes(agent, hash)));
  const remarks = once(() => frozen(world.receivedRemarks(agent, hash)));
  const transactions = once(() => Object.freeze([...block.transactions]));
  const memes = once(() => frozen(world.receivedMemes(agent, hash)));
  const view: ScriptBlock = {
    hash,
    producer,
    producerGroup: world.groupOf(producer),
    soundness,
    hasMeme,
    ageMs: world.now - proposedAt,
    get votes() {
      return votes();
    },
    get remarks() {
      return remarks();
    },
    get transactions() {
      return transactions();
    },
    get memes() {
      return memes();
    },
  };
  return Object.freeze(view);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Copies of plain records. */
function frozen<T extends object>(records: readonly T[]): readonly T[] {
  return Object.freeze(records.map((record) => Object.freeze({ ...record })));
}
