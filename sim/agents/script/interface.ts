/**
 * Interface of scripts: exported functions, the view that each function receives, and the strategy
 * for a group with a script. If a function is missing, the agent follows its personality.
 */
import type { NetworkRule } from '../../../engine/rules/network-rule.js';
import type { Stream } from '../../rng.js';
import type {
  BlockTalk,
  DeliberationView,
  KnownHead,
  ReceivedMeme,
  ReceivedMessage,
  ReceivedRemark,
  ReceivedVote,
  ScriptedAgent,
  Strategy,
  World,
} from '../port.js';
import { byPersonality } from '../strategies.js';
import { deepFrozen, type ScriptCommand } from './commands.js';

/** Block in voting as known to the agent. Frozen copy, like everything in a view. */
export interface ScriptBlock {
  /** Block hash. */
  readonly hash: string;
  /** Hash of the parent block. */
  readonly parent: string;
  /** Height: the parent's height plus one. */
  readonly height: number;
  /** Time of the proposal in milliseconds since the start of the run. */
  readonly at: number;
  /** Ordinal of the producer; -1 outside the scenario. */
  readonly producer: number;
  /** Name of the producer's group; empty outside the scenario. */
  readonly producerGroup: string;
  /** Percentage of sound transactions. */
  readonly soundness: number;
  /** True if the block carries a meme. */
  readonly hasMeme: boolean;
  /** Milliseconds since the proposal. */
  readonly ageMs: number;
  /** Neighbours' votes that the agent has received. Without the agent's own vote. */
  readonly votes: readonly ReceivedVote[];
  /** Memes about the block that the agent has received from neighbours. Without its own memes. */
  readonly memes: readonly ReceivedMeme[];
  /** Neighbours' remarks about the block that the agent has received. Without its own remarks. */
  readonly remarks: readonly ReceivedRemark[];
  /** Data of each transaction. */
  readonly transactions: readonly string[];
  /** Names of the options; empty if the network's rule does not choose among options. */
  readonly options: readonly string[];
}

/** Agent that the call concerns. */
export interface ScriptAgent {
  /** Index in the scenario, from 0. */
  readonly ordinal: number;
  /** Agent id on the network. */
  readonly id: string;
  /** Agent name. */
  readonly name: string;
  /** Group name. */
  readonly group: string;
  /** Personality name. */
  readonly personality: string;
}

/** Decision rule of the network. */
export interface ScriptRule {
  /** Name of the policy. */
  readonly policy: string;
  /** Parameters by name. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Schema of a vote's ballot, a subset of JSON Schema; null if votes have no ballots. */
  readonly ballot: Readonly<object> | null;
}

/** State known to an agent. Frozen, except for `memory` and `shared`. */
export interface ScriptView {
  /** Milliseconds since the start of the run. */
  readonly nowMs: number;
  /** Agent that the call concerns. */
  readonly me: ScriptAgent;
  /** True if the agent's status is not active. */
  readonly onBreak: boolean;
  /** Ordinals of neighbours, ascending. */
  readonly neighbours: readonly number[];
  /** Ids of the agent's alliances. */
  readonly alliances: readonly string[];
  /** Ordinals of agents that share an alliance with the agent. */
  readonly allies: readonly number[];
  /** Last known overall reputation, 0 to 100. */
  readonly reputation: number;
  /** Head known to the agent. */
  readonly head: Readonly<KnownHead>;
  /** Decision rule of the network. */
  readonly rule: ScriptRule;
  /** Block that the call concerns, in `hear` and `vote`; otherwise null. */
  readonly block: ScriptBlock | null;
  /** Blocks in voting that the agent has received, in order of proposal. */
  readonly blocks: readonly ScriptBlock[];
  /** Index among the agent's `vote` calls for this block, from 0. */
  readonly round: number;
  /** Id of the alliance in an invitation, in `invited`; otherwise null. */
  readonly alliance: string | null;
  /** Message from a neighbour's script, in `receive`; otherwise null. */
  readonly message: ReceivedMessage | null;
  /** Note of the command `wake`, in `wake`; otherwise null. */
  readonly note: unknown;
  /** State of the deliberation, in `deliberate`; otherwise null. */
  readonly deliberation: DeliberationView | null;
  /** Strategy's `parameters` from the scenario. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Agent's state, preserved between calls in this run. */
  readonly memory: Record<string, unknown>;
  /** State shared by all agents in the group in this run, such as one operator with many keys. */
  readonly shared: Record<string, unknown>;
  /** Returns members of the agent's alliance, or of an alliance to which the agent is invited. */
  membersOf(alliance: string): readonly number[];
  /** Returns an agent's group name; empty outside the scenario. */
  groupOf(agent: number): string;
  /** Returns ordinals of a group's agents, ascending; empty for an unknown group. */
  agentsOf(group: string): readonly number[];
}

/** Script function. Receives the view and a random stream, and returns commands. */
export type ScriptFunction = (
  view: ScriptView,
  rng: Stream,
) => ScriptCommand | readonly ScriptCommand[] | null | undefined;

/** Final state of a group. */
export interface ScriptGroup {
  /** Group name. */
  readonly group: string;
  /** Ordinals of the agents, ascending. */
  readonly agents: readonly number[];
  /** `memory` of each agent that has stored something, by ordinal. */
  readonly memories: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  /** Group's `shared` state. */
  readonly shared: Readonly<Record<string, unknown>>;
  /** Strategy's `parameters` from the scenario. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Proposed block and its outcome. */
export interface ScriptReportBlock {
  /** Index of the block in the run, from 0. */
  readonly number: number;
  /** Block hash. */
  readonly hash: string;
  /** Ordinal of the producer; -1 outside the scenario. */
  readonly producer: number;
  /** Outcome, or voting if the block was open at the end of the run. */
  readonly status: 'finalized' | 'rejected' | 'expired' | 'orphaned' | 'voting';
  /** Percentage of sound transactions; null outside the scenario. */
  readonly soundness: number | null;
  /** True if the block was proposed during the warm-up. */
  readonly warmup: boolean;
  /** Time of the proposal in milliseconds since the start of the run. */
  readonly proposedMs: number;
  /** Time of closing; null if the block is still in voting. */
  readonly closedMs: number | null;
  /** Number of votes. */
  readonly votes: number;
  /** Approving weight. */
  readonly approve: number;
  /** Rejecting weight. */
  readonly reject: number;
  /** Total weight of the electorate. */
  readonly electorate: number;
  /** Option that the rule chose; null without a choice. */
  readonly choice: string | null;
  /** Scores at the end of voting, by name; null if the rule gives none. */
  readonly standings: Readonly<Record<string, number>> | null;
}

/** View passed to `report` at the end of the run. Frozen. */
export interface ScriptReportView {
  /** The group to report on; null for the whole run. */
  readonly group: string | null;
  /** Run length in milliseconds. */
  readonly nowMs: number;
  /** State of that group, or, for the whole run, of all groups with the script. */
  readonly groups: readonly ScriptGroup[];
  /** All blocks in the run, in proposal order. */
  readonly blocks: readonly ScriptReportBlock[];
  /** Returns ordinals of an agent's neighbours, ascending. */
  neighboursOf(agent: number): readonly number[];
  /** Returns an agent's group name; empty outside the scenario. */
  groupOf(agent: number): string;
  /** Returns ordinals of a group's agents, ascending; empty for an unknown group. */
  agentsOf(group: string): readonly number[];
}

/**
 * Returns custom measures by name, with null for undefined measures. Called once for the run and
 * once per group with the script.
 */
export type ScriptReport = (
  view: ScriptReportView,
) => Readonly<Record<string, number | null>> | null | undefined;

/**
 * Script module. Each function receives the agent's view and a random stream, and returns commands.
 * If a function is missing, the agent follows its personality. All random numbers must come from
 * the stream, and scripts must not read a clock, because only then does a seed always give an
 * identical log. A violation ends the run with an error that names the violation.
 */
export interface ScriptModule {
  /** Called after joining, and after restarting from a crash. */
  start?: ScriptFunction;
  /** Called when the agent receives a block in voting. */
  hear?: ScriptFunction;
  /** Called after the thinking time, or after `wait`. */
  vote?: ScriptFunction;
  /** Called on the agent's turn to produce a block. */
  produce?: ScriptFunction;
  /** Called on occasions for social actions. */
  mingle?: ScriptFunction;
  /** Called on an invitation to an alliance. */
  invited?: ScriptFunction;
  /** Called after the command `wake`. */
  wake?: ScriptFunction;
  /** Called when a message that a neighbour sent with `send` arrives. */
  receive?: ScriptFunction;
  /** Called in each round of a deliberation, to return `state`. */
  deliberate?: ScriptFunction;
  /** Called at the end of the run to compute custom measures. */
  report?: ScriptReport;
}

/*
 * Views are frozen copies, so scripts cannot change the world. Expensive members are computed on
 * first access and cached during the call.
 */

/** Subject of a call. */
export interface Occasion {
  block?: BlockTalk;
  /** Index among the agent's `vote` calls for the block. */
  round?: number;
  /** Number of `wait` commands that led to the call. Selects the random draws of the call. */
  draw?: number;
  alliance?: string;
  message?: ReceivedMessage;
  /** Note that the script passed to `wake`, or null. */
  note?: unknown;
  /** View of a deliberation. */
  deliberation?: DeliberationView;
}

/** View members shared by all calls for an agent. */
export interface CallContext extends Pick<ScriptView, 'parameters' | 'memory' | 'shared'> {
  me: ScriptAgent;
  neighbours: readonly number[];
  groupOf: ScriptView['groupOf'];
  agentsOf: ScriptView['agentsOf'];
}

export function createView(
  agent: ScriptedAgent,
  world: World,
  { block: talk, round = 0, alliance, message, note = null, deliberation }: Occasion,
  kept: CallContext,
): ScriptView {
  const { ordinal } = agent;
  const { me, neighbours, parameters, memory, shared, groupOf, agentsOf } = kept;
  const alliances = once(() => Object.freeze([...world.alliancesOf(ordinal)]));
  const allies = once(() => Object.freeze([...world.alliesOf(ordinal)]));
  const head = once(() => deepFrozen(structuredClone(world.head(ordinal))));
  const blocks = once(() =>
    Object.freeze(world.openBlocks(ordinal).map((one) => blockView(ordinal, world, one))),
  );
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
    get rule() {
      return ruleView(world.rule);
    },
    block: talk ? blockView(ordinal, world, talk) : null,
    get blocks() {
      return blocks();
    },
    round,
    alliance: alliance ?? null,
    message: message ? Object.freeze({ ...message }) : null,
    note,
    deliberation: deliberation ? deepFrozen(structuredClone(deliberation)) : null,
    parameters,
    memory,
    shared,
    membersOf: (name) => membersOf(ordinal, name, alliance, world),
    groupOf,
    agentsOf,
  };
  return Object.freeze(view);
}

/** Returns members only for alliances that concern the agent; others are hidden from it. */
function membersOf(agent: number, name: string, invited: string | undefined, world: World) {
  const own = name === invited || world.alliancesOf(agent).includes(name);
  return own ? Object.freeze([...world.membersOf(name)]) : noAgents;
}

export const noAgents: readonly number[] = Object.freeze([]);

const ruleViews = new WeakMap<NetworkRule, ScriptRule>();

function ruleView(rule: NetworkRule): ScriptRule {
  let view = ruleViews.get(rule);
  if (!view) {
    const { name: policy, values, ballotSchema } = rule;
    view = deepFrozen(structuredClone({ policy, parameters: values, ballot: ballotSchema }));
    ruleViews.set(rule, view);
  }
  return view;
}

function blockView(agent: number, world: World, block: BlockTalk): ScriptBlock {
  const { hash, parent, height, producer, soundness, hasMeme, proposedAt } = block;
  const votes = once(() => frozen(world.receivedVotes(agent, hash)));
  const remarks = once(() => frozen(world.receivedRemarks(agent, hash)));
  const transactions = once(() => Object.freeze([...block.transactions]));
  const memes = once(() => frozen(world.receivedMemes(agent, hash)));
  const view: ScriptBlock = {
    hash,
    parent,
    height,
    at: proposedAt - world.startMs,
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
    options: Object.freeze([...block.options]),
    get memes() {
      return memes();
    },
  };
  return Object.freeze(view);
}

export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function frozen<T extends object>(records: readonly T[]): readonly T[] {
  return Object.freeze(records.map((record) => Object.freeze({ ...record })));
}

/** Functions that a script can export. */
export const functionNames = [
  ...['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive', 'deliberate'],
  'report',
] as (keyof ScriptModule)[];

/** Functions called for an agent. */
export type CalledFunction = Exclude<keyof ScriptModule, 'report'>;

/** Calls the function. Returns false if the script does not export the function. */
type Ask = (
  name: CalledFunction,
  agent: ScriptedAgent,
  world: World,
  occasion: Occasion,
) => boolean;

/** @param honest false if the decisions of the strategy are not audited. */
export function strategyFrom(ask: Ask, honest = true): Strategy {
  /** Numbers of `vote` calls by agent. They live as long as the world remembers the block. */
  const calls = new WeakMap<BlockTalk, Map<number, number>>();
  const takeRound = ({ ordinal }: ScriptedAgent, block: BlockTalk): number => {
    const known = calls.get(block) ?? new Map<number, number>();
    calls.set(block, known);
    const round = known.get(ordinal) ?? 0;
    known.set(ordinal, round + 1);
    return round;
  };
  return {
    honest,
    hear: (agent, world, block) =>
      ask('hear', agent, world, { block }) || byPersonality.hear(agent, world, block),
    vote: (agent, world, block, draw) =>
      ask('vote', agent, world, { block, round: takeRound(agent, block), draw }) ||
      byPersonality.vote(agent, world, block, draw),
    produce: (agent, world) =>
      ask('produce', agent, world, {}) || byPersonality.produce(agent, world),
    socialize: (agent, world) =>
      ask('mingle', agent, world, {}) || byPersonality.socialize(agent, world),
    invited: (agent, world, alliance) =>
      ask('invited', agent, world, { alliance }) || byPersonality.invited(agent, world, alliance),
    start: (agent, world) => ask('start', agent, world, {}),
    wake: (agent, world, note) => ask('wake', agent, world, { note }),
    receive: (agent, world, message) => ask('receive', agent, world, { message }),
    deliberate: (agent, world, block, deliberation) =>
      ask('deliberate', agent, world, { block, draw: deliberation.round, deliberation }),
  };
}
