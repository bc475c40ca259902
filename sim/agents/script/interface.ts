/**
 * The interface of a script: the functions that it may export, the view that each of them is given,
 * and the strategy of its group, which follows the personality where the script has no function.
 */
import type { Stream } from '../../rng.js';
import type {
  BlockTalk,
  ReceivedMeme,
  ReceivedMessage,
  ReceivedRemark,
  ReceivedVote,
  ScriptedAgent,
  Strategy,
  World,
} from '../port.js';
import { byPersonality } from '../strategies.js';
import type { ScriptCommand } from './commands.js';

/** A block in voting as the agent knows it. A frozen copy, as all that a view shows. */
export interface ScriptBlock {
  /** Its hash. */
  readonly hash: string;
  /** Ordinal of its producer; -1 for a stranger. */
  readonly producer: number;
  /** Name of the producer's group; '' for a stranger. */
  readonly producerGroup: string;
  /** Percent of its transactions that add up. */
  readonly soundness: number;
  /** Whether it carries a meme. */
  readonly hasMeme: boolean;
  /** Milliseconds since it was proposed. */
  readonly ageMs: number;
  /** Neighbours' votes that the agent has received. */
  readonly votes: readonly ReceivedVote[];
  /** Memes about it that the agent has received. */
  readonly memes: readonly ReceivedMeme[];
  /** Neighbours' remarks about it that the agent has received. */
  readonly remarks: readonly ReceivedRemark[];
  /** What each of its transactions says. */
  readonly transactions: readonly string[];
}

/** The agent itself. */
export interface ScriptAgent {
  /** Its number in the scenario, from 0. */
  readonly ordinal: number;
  /** Its id on the network. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Name of its group. */
  readonly group: string;
  /** Name of its personality. */
  readonly personality: string;
}

/** What an agent sees when a function of its script is called: frozen, but for its notes. */
export interface ScriptView {
  /** Milliseconds since the run began. */
  readonly nowMs: number;
  /** The agent itself. */
  readonly me: ScriptAgent;
  /** Has set its status to something else than active. */
  readonly onBreak: boolean;
  /** Ordinals of its neighbours, ascending. */
  readonly neighbours: readonly number[];
  /** Ids of the alliances that it is a member of. */
  readonly alliances: readonly string[];
  /** Ordinals of those who share an alliance with it. */
  readonly allies: readonly number[];
  /** Its overall reputation as it was last told, 0 to 100. */
  readonly reputation: number;
  /** The head as the agent knows it; contested when it knows of a block in voting on it. */
  readonly head: { readonly hash: string; readonly contested: boolean; readonly own: boolean };
  /** The block that the call is about, in `hear` and `vote`; else null. */
  readonly block: ScriptBlock | null;
  /** Counts the calls of `vote` for this block, from 0. */
  readonly round: number;
  /** Id of the alliance that it is invited to, in `invited`; else null. */
  readonly alliance: string | null;
  /** What a neighbour's script has sent, in `receive`; else null. */
  readonly message: ReceivedMessage | null;
  /** `parameters` of the strategy in the scenario. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The agent's own notes in this run: whatever is put there is there at its next call. */
  readonly memory: Record<string, unknown>;
  /** Notes that all agents of the group share in this run: one operator behind many keys. */
  readonly shared: Record<string, unknown>;
  /** Ordinals of who is in an alliance of its own, or in one that it is invited to. */
  membersOf(alliance: string): readonly number[];
  /** Name of the group of an agent; '' for a stranger. */
  groupOf(agent: number): string;
  /** Ordinals of the agents of a group, ascending; none for a group that is not there. */
  agentsOf(group: string): readonly number[];
}

/** A function of a script: what the agent sees and its own random stream, to what it does. */
export type ScriptFunction = (
  view: ScriptView,
  rng: Stream,
) => ScriptCommand | readonly ScriptCommand[] | null | undefined;

/** What a script notes down for a group, as it is at the end. */
export interface ScriptGroup {
  /** Its name. */
  readonly group: string;
  /** Ordinals of its agents, ascending. */
  readonly agents: readonly number[];
  /** The notes of each agent that has any, by its ordinal. */
  readonly memories: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  /** The notes that its agents share. */
  readonly shared: Readonly<Record<string, unknown>>;
  /** `parameters` of its strategy in the scenario. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A block that was proposed, and what became of it. */
export interface ScriptReportBlock {
  /** Counts the blocks of the run, from 0. */
  readonly number: number;
  /** Its hash. */
  readonly hash: string;
  /** Ordinal of its producer; -1 for a stranger. */
  readonly producer: number;
  /** Finalized, rejected, expired, orphaned, or voting when the run ended before. */
  readonly status: 'finalized' | 'rejected' | 'expired' | 'orphaned' | 'voting';
  /** Percent of its transactions that add up; null for a stranger's. */
  readonly soundness: number | null;
  /** Whether it was proposed in the warm-up. */
  readonly warmup: boolean;
  /** When it was proposed, milliseconds since the run began. */
  readonly proposedMs: number;
  /** When it closed; null while in voting. */
  readonly closedMs: number | null;
  /** How many voted. */
  readonly votes: number;
  /** Approving weight. */
  readonly approve: number;
  /** Rejecting weight. */
  readonly reject: number;
  /** Weight of all its electors together. */
  readonly electorate: number;
}

/** What `report` sees at the end of the run: frozen. */
export interface ScriptReportView {
  /** The group that is reported on; null for the whole run. */
  readonly group: string | null;
  /** How long the run was, in milliseconds. */
  readonly nowMs: number;
  /** Notes of that group; for the run, of each group that follows the script. */
  readonly groups: readonly ScriptGroup[];
  /** All blocks of the run, in the order of their proposals. */
  readonly blocks: readonly ScriptReportBlock[];
  /** Ordinals of an agent's neighbours, ascending. */
  neighboursOf(agent: number): readonly number[];
  /** Name of the group of an agent; '' for a stranger. */
  groupOf(agent: number): string;
  /** Ordinals of the agents of a group, ascending; none for a group that is not there. */
  agentsOf(group: string): readonly number[];
}

/**
 * Gives measures of the author's own, by name, null where one cannot be said: called once for the
 * run and once for each group that follows the script.
 */
export type ScriptReport = (
  view: ScriptReportView,
) => Readonly<Record<string, number | null>> | null | undefined;

/**
 * A module of a user's own. Each function is called with what the agent sees and its own random
 * stream, and gives what it does; a function that is left out acts by the agent's personality. A
 * script must draw all its random numbers from the stream and read no clock: the same seed gives
 * the same bytes only then. What it uses of its own is named, and ends the run.
 */
export interface ScriptModule {
  /** It has joined, or begins again after a crash. */
  start?: ScriptFunction;
  /** It hears of a block in voting. */
  hear?: ScriptFunction;
  /** It has thought about a block, or waited. */
  vote?: ScriptFunction;
  /** It is its turn to produce. */
  produce?: ScriptFunction;
  /** An occasion for social life. */
  mingle?: ScriptFunction;
  /** It is invited to an alliance. */
  invited?: ScriptFunction;
  /** It wanted to be called again, by the command `wake`. */
  wake?: ScriptFunction;
  /** A neighbour's script has sent it something, by the command `send`. */
  receive?: ScriptFunction;
  /** The end of the run: the measures of the author's own. */
  report?: ScriptReport;
}

/*
 * The view is made of frozen copies, so that a script that writes into it does not change the
 * world. A part that costs something is made when it is first read, and kept for as long as the
 * call.
 */

/** What a call is about. */
export interface Occasion {
  block?: BlockTalk;
  round?: number;
  alliance?: string;
  message?: ReceivedMessage;
}

/** What is the same at each call of an agent. */
export interface CallContext extends Pick<ScriptView, 'parameters' | 'memory' | 'shared'> {
  me: ScriptAgent;
  neighbours: readonly number[];
  groupOf: ScriptView['groupOf'];
  agentsOf: ScriptView['agentsOf'];
}

export function createView(
  agent: ScriptedAgent,
  world: World,
  { block: talk, round = 0, alliance, message }: Occasion,
  kept: CallContext,
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

/** A function that is called for an agent. */
export type CalledFunction = Exclude<keyof ScriptModule, 'report'>;

/** Whether the script has the function; if so, what it says is done. */
type Ask = (
  name: CalledFunction,
  agent: ScriptedAgent,
  world: World,
  occasion: Occasion,
) => boolean;

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
