/**
 * Interface between scripted agents and their world, in virtual time and on a live network. The
 * world drives a behaviour and collects the questions that agents put to deciders. Agents leave
 * notes for the measures. Keys are derived from the seed, so a repeated run signs identical bytes.
 */
import { KeySignatory, keyPairFromSeed } from '../../engine/crypto/keys.js';
import type { Signatory } from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import type { Stream, Streams, Subject } from '../rng.js';
import type { Inhabitant } from '../scenario/population.js';
import type { Opinions, Personality } from '../scenario/schema/personalities.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Callbacks of an agent. */
export interface Strategy {
  /** False if the strategy's decisions for slots are not audited. */
  honest?: boolean;
  /** The agent receives a block in voting. */
  hear(agent: ScriptedAgent, world: World, block: BlockTalk): void;
  /** The agent's thinking time is over. `round` counts the agent's calls for the block, from 0. */
  vote(agent: ScriptedAgent, world: World, block: BlockTalk, round: number): void;
  /** The agent's turn to produce a block. */
  produce(agent: ScriptedAgent, world: World): void;
  /** An occasion for social actions has come. */
  socialize(agent: ScriptedAgent, world: World): void;
  /** The agent is invited to an alliance. */
  invited(agent: ScriptedAgent, world: World, alliance: string): void;
  /** The agent has joined, or has restarted after a crash. */
  start?(agent: ScriptedAgent, world: World): void;
  /** A timer set by the agent has fired. The note is null if the timer has none. */
  wake?(agent: ScriptedAgent, world: World, note: unknown): void;
  /** A neighbour's message has arrived. */
  receive?(agent: ScriptedAgent, world: World, message: ReceivedMessage): void;
  /** A round of the deliberation about the block has begun, with the view of the agent. */
  deliberate?(agent: ScriptedAgent, world: World, block: BlockTalk, view: DeliberationView): void;
  /**
   * Returns the function that makes a statement in the deliberation about the block.
   * @throws {TypeError} if the statement is not allowed, or if none is due.
   */
  stating?(agent: ScriptedAgent, world: World, block: BlockTalk, given: GivenStatement): () => void;
}

/** State of a deliberation as an agent is shown it. Values use the labels of the options. */
export interface DeliberationView {
  /** Question; empty if the scenario has none. */
  readonly question: string;
  /** Round, from 0. */
  readonly round: number;
  /** Maximum number of rounds. */
  readonly rounds: number;
  /** Number of participants, including the agent. */
  readonly participants: number;
  /** Kind of the value to state, with its options or bounds. Options with labels are an object. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Role of the agent, and the value that it pursues. */
  readonly role: Readonly<Record<string, unknown>>;
  /** Sentence about the task, in the wording of `prompts.paraphrase`. */
  readonly task: string;
  /** Instruction for the role. */
  readonly instruction: string;
  /** Warning about faulty participants, from `prompts.threat`; empty for the threat `none`. */
  readonly warning: string;
  /** Text about the agent, from `prompts.persona`; empty without one. */
  readonly persona: string;
  /** Value that the agent stated last; null before its first statement. */
  readonly own: unknown;
  /** Initial value given to the agent; null without one. */
  readonly start: unknown;
  /** Latest statement of each agent that it sees. */
  readonly statements: readonly Readonly<Record<string, unknown>>[];
  /** Statements of earlier rounds, with memory all. */
  readonly earlier?: readonly Readonly<Record<string, unknown>>[];
  /** Number of agents for each value by round, with memory summary. */
  readonly summary?: readonly Readonly<Record<string, unknown>>[];
  /** Number of agents for each value, if the scenario shows it. */
  readonly tally?: Readonly<Record<string, number>>;
}

/** Statement that a script or a decider gives. */
export interface GivenStatement {
  value?: unknown;
  /** Public reason. */
  reason?: string;
  /** Private note; recorded, and not sent. */
  note?: string;
  /** True to end the deliberation, with `until: votes`. */
  stop?: boolean;
}

export interface ScriptedAgent extends Omit<Inhabitant, 'joins' | 'leaves'> {
  readonly id: string;
  readonly by: Signatory;
  strategy: Strategy;
  readonly producer: boolean;
  readonly validator: boolean;
  /** Run times of joining and of permanent departure. `leavesMs` is null if the agent stays. */
  readonly joinsMs: number;
  leavesMs: number | null;
  /** The agent has received confirmation of its registration. */
  joined: boolean;
  /** The agent has received confirmation of its permanent departure. */
  left: boolean;
  /** The agent has set a status other than active. */
  onBreak: boolean;
  /** Churn keeps the agent away until churn returns it. */
  away: boolean;
  /** Number of the latest production turn. Earlier turns are void. */
  turn: number;
  votes: number;
  /** Number of proposals sent. With the ordinal, it names the draws for the next proposal. */
  proposals: number;
  /** Number of social occasions so far. */
  occasions: number;
  /** Latest pending timer of each name. Null before the first. */
  timers: Map<string, ScheduledEvent> | null;
  /** Source of the draws. */
  streams: Streams;
  /**
   * Returns random draws for a purpose: one stream for the whole run, or one per subject, which
   * ends with the next call for that purpose. `round` distinguishes repeated decisions about one
   * subject.
   */
  rng(purpose: string, subject?: Subject, round?: number): Stream;
}

/** True between joining and permanent departure. The world ignores an agent outside that period. */
export function isHere({ joinsMs, leavesMs }: ScriptedAgent, runMs: number): boolean {
  return joinsMs <= runMs && (leavesMs === null || runMs < leavesMs);
}

/** Events for which an agent is called. */
export type ScheduledEvent =
  | { type: 'join' }
  | { type: 'hear'; block: string }
  | { type: 'vote'; block: string; round: number }
  /** Void unless `turn` is the agent's latest turn. */
  | { type: 'produce'; turn: number }
  | { type: 'socialize' }
  | { type: 'invited'; alliance: string }
  | { type: 'restart' }
  /** Permanent departure. */
  | { type: 'depart' }
  /** The agent has joined or restarted. */
  | { type: 'start' }
  /** A timer set by the agent. A timer with a name is void unless it is the latest of its name. */
  | { type: 'wake'; name?: string | undefined; note?: unknown }
  | { type: 'receive'; message: ReceivedMessage }
  /** Churn: temporary absence and return. */
  | { type: 'leave' }
  | { type: 'return' };

/** Message to neighbours, as frozen plain data. */
export interface TalkContent {
  content: unknown;
  /** Size in bytes as canonical JSON. */
  bytes: number;
}

/** Reason why a valid command of a script had no effect. */
export type IgnoredWhy = 'BLOCK_NOT_OPEN' | 'NOTE_TOO_LARGE' | 'UNKNOWN_WAKE' | 'VALUE_TOO_LARGE';

/** Decision of an agent in its protocol. */
export interface SlotDecision {
  /** Slot and value as canonical JSON. */
  slot: string;
  value: string;
  /** Permitted difference to other decisions, which are integers; null for none. */
  tolerance: number | null;
  /** False if the decision is not audited. */
  honest: boolean;
}

export interface World {
  readonly scenario: Scenario;
  readonly networkId: string;
  readonly rule: NetworkRule;
  /** World's Unix time in milliseconds. */
  readonly now: number;
  /** Unix time at the start of the run, in milliseconds. */
  readonly startMs: number;
  /** Seed for draws that belong to no agent. */
  readonly seedNumber: number;
  /** Producers' ordinals, ascending. */
  readonly producers: readonly number[];
  /** Returns the time by the agent's clock, as RFC 3339. */
  stamp(agent: number): string;
  /** Sends a request, which arrives later or is lost. A block that it is about names its draws. */
  send(from: number, request: SignedRequest, about?: { block: string }): void;
  /** Sends a vote. Its note counts if the vote is accepted. */
  sendVote(from: number, vote: CastVote, note: DecisionNote): void;
  schedule(agent: number, at: number, event: ScheduledEvent): void;
  agentId(agent: number): string;
  /** Returns the agent's group name; empty for an agent outside the scenario. */
  groupOf(agent: number): string;
  /** Returns the key of an agent that signs a transaction in another agent's block. */
  signatoryOf(agent: number): Signatory;
  neighbours(agent: number): readonly number[];
  /** Sends a message to some neighbours. Each copy arrives later or is lost. */
  sendTalk(from: number, to: readonly number[], said: TalkContent): void;
  /** Returns a block that the agent has received. Undefined once the block is forgotten. */
  block(agent: number, hash: string): BlockTalk | undefined;
  /** Returns the blocks in voting that the agent has received, in order of proposal. */
  openBlocks(agent: number): readonly BlockTalk[];
  /** True if the agent knows that voting on the block has ended. */
  knowsClosed(agent: number, hash: string): boolean;
  head(agent: number): KnownHead;
  receivedVotes(agent: number, hash: string): readonly ReceivedVote[];
  /** Approving percentage of received votes, an ally's counted twice. Null without votes. */
  support(agent: number, hash: string): number | null;
  /** Memes that neighbours posted or referred to in accepted votes. */
  receivedMemes(agent: number, hash: string): readonly ReceivedMeme[];
  /**
   * Neighbours' remarks that the agent has received.
   * @param most considers only the last remarks of each neighbour. Default: all.
   */
  receivedRemarks(agent: number, hash: string, most?: number): ReceivedRemark[];
  /** Records the agent's decision for a slot. */
  decide(agent: number, decision: SlotDecision): void;
  /** Records a command that has no effect. The run continues. */
  ignored(agent: number, why: IgnoredWhy, detail: string): void;
  /** Records the content of a block that the agent proposes. */
  noteContent(note: ContentNote): void;
  /** Ids of the agent's alliances. */
  alliancesOf(agent: number): readonly string[];
  alliesOf(agent: number): readonly number[];
  /** Members of an alliance, including its founder. */
  membersOf(alliance: string): readonly number[];
  /** The agent's last known overall reputation, 0 to 100. */
  reputationOf(agent: number): number;
}

export interface CastVote {
  block_hash: string;
  decision: Decision;
  reason: string;
  /** Not changed after the vote is sent. */
  meme_references: string[];
  /** Ballot, for a rule that counts ballots. */
  ballot?: unknown;
}

/** Vote that an agent has received. */
export interface ReceivedVote {
  /** Ordinal of the neighbour. */
  agent: number;
  /** The neighbour's decision. */
  decision: Decision;
  /** True if the two agents share an active alliance. */
  ally: boolean;
}

/** Meme that an agent has received. */
export interface ReceivedMeme {
  /** Meme id. */
  id: string;
  /** The decision that the meme argues for. */
  stance: Decision;
  /** Content; empty if the content is not a short text or the author is outside the scenario. */
  text: string;
}

/** Remark about a block that an agent has received. */
export interface ReceivedRemark {
  /** Ordinal of the neighbour. */
  agent: number;
  /** The decision that the remark argues for. Null if neutral. */
  stance: Decision | null;
  /** Remark text. */
  message: string;
}

/** Message from a neighbour's script. */
export interface ReceivedMessage {
  /** Ordinal of the sender. */
  readonly from: number;
  /** Plain data, as sent. */
  readonly content: unknown;
}

/** Block that is or was in voting. */
export interface BlockTalk {
  readonly hash: string;
  readonly parent: string;
  readonly height: number;
  readonly proposedAt: number;
  /** Ordinal; -1 if the producer is outside the scenario. */
  readonly producer: number;
  /** Identifies the producer in draws: its ordinal, or below -1 outside of the scenario. */
  readonly place: number;
  /** Number of earlier proposals by the producer. Together with `place`, it names draws. */
  readonly number: number;
  /** Time of closing; 0 while the block is in voting. */
  readonly closedAt: number;
  /** Percentage of sound transactions. */
  readonly soundness: number;
  readonly hasMeme: boolean;
  /** Data of each transaction. */
  readonly transactions: readonly string[];
  /** Names of the options; empty if the network's rule does not choose among options. */
  readonly options: readonly string[];
}

/** Last final block that an agent knows, and what it knows of the blocks after it. */
export interface KnownHead {
  /** Block hash. */
  hash: string;
  /** True if the agent knows of a block in voting on this head. */
  contested: boolean;
  /** True if one of those blocks is the agent's own. */
  own: boolean;
  /** Option that the network's rule chose for the head; null without a choice. */
  choice: string | null;
  /** Scores of the head at the end of voting, by name; null if the rule gives none. */
  standings: Readonly<Record<string, number>> | null;
}

export interface Behaviour {
  handle(agent: ScriptedAgent, world: World, event: ScheduledEvent): void;
  /** Called when the agent has received, at `at`, confirmation of its registration. */
  registered(agent: ScriptedAgent, world: World, at: number): void;
  /** Called when the agent has received its status as of `at`. */
  handleStatus(
    agent: ScriptedAgent,
    world: World,
    at: number,
    status: EventData['agent_status']['status'],
  ): void;
  /** Called in an open schedule when the producer has received, at `at`, a block's closing. */
  blockClosed(agent: ScriptedAgent, world: World, at: number, block: Subject): void;
}

/** Calls agents in order. `next` calls one agent and returns true if more are due. */
export type CallLoop = (next: () => boolean) => void;

/** Agent's record of its vote. It travels with the request, and counts if that is accepted. */
export interface DecisionNote {
  agent: number;
  block: string;
  decision: Decision;
  /** Decision that the agent would make without any memes. Null if the strategy cannot tell. */
  withoutMemes: Decision | null;
  /** Absent if the strategy states no reasons. */
  basis?: Basis | undefined;
  /** Ids of received memes about the block. */
  receivedMemes: readonly string[];
  /** Ids of memes to which the vote refers. */
  memeReferences: readonly string[];
}

/**
 * Grounds for a decision: opinions weighed by a personality, with the memes behind one of those
 * opinions; a single factor; or the reason given by a script.
 */
export type Basis =
  | {
      by: 'judgement';
      personality: Personality;
      opinions: Opinions;
      memes: readonly ReceivedMeme[];
      /** The block carries a meme, which argues for approval. */
      hasMeme: boolean;
    }
  | { by: 'content' | 'neighbours' }
  | { by: 'script'; reason: string };

/** Content of a block proposed by a scripted agent. */
export interface ContentNote {
  block: string;
  /** Number of the producer's earlier proposals. Absent if the block is from a different run. */
  number?: number;
  /** Percentage of sound transactions. */
  soundness: number;
  hasMeme: boolean;
  /** Data of each transaction. Absent if unknown. */
  transactions?: readonly string[];
  /** Ordinals of the signers, one per transaction. */
  senders: readonly number[];
}

export interface AnswerCost {
  /** Number of calls made, including retries. */
  calls: number;
  /** Reason for a failure, or null. The agent does nothing after a failure. */
  failure: string | null;
  inputTokens: number;
  outputTokens: number;
}

export interface DecidedCall {
  agent: number;
  /** World time at which the question was asked. */
  at: number;
  cost: AnswerCost;
  /** Performs the commands in the answer. */
  act(): void;
}

export interface QuestionGate {
  /** True while the agent waits for an answer. The agent's later events wait too. */
  waits(agent: number): boolean;
  /** Resolves to the answers to all open questions, in question order. */
  answers(): Promise<readonly DecidedCall[]>;
}

/** Returns the percentage of sound transactions; 50 for a block without transactions. */
export function soundness(transactions: readonly { data: string }[]): number {
  if (transactions.length === 0) return 50;
  const sound = transactions.filter(({ data }) => addsUp(data));
  return Math.floor((100 * sound.length) / transactions.length);
}

/** True if the data is a sound entry. Agents outside the scenario may use any text as data. */
function addsUp(data: string): boolean {
  try {
    const { amount } = JSON.parse(data) as { amount?: unknown };
    return typeof amount === 'number' && amount > 0;
  } catch {
    return false;
  }
}

/** Tag that links a meme to its block. */
export const blockTag = (blockHash: string): string => `b_${blockHash.slice(0, 12)}`;
export const stanceTag: Record<Decision, string> = { approve: 'pro', reject: 'contra' };

export const deriveSecret = (seed: string, ordinal: number) =>
  sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`);

export const deriveSignatory = (seed: string, ordinal: number): Signatory =>
  new KeySignatory(keyPairFromSeed(Buffer.from(deriveSecret(seed, ordinal), 'hex')));

const NO_SIGNATURE = '0'.repeat(128);

/**
 * Derives a signatory for runs without a log. Requests are not signed, but ids are those of the
 * keys, and block hashes cover the signatures of the transactions.
 */
export function deriveUnrecordedSignatory(seed: string, ordinal: number): Signatory {
  const by = deriveSignatory(seed, ordinal);
  return { publicKey: by.publicKey, sign: (input) => by.sign(input), unsigned: NO_SIGNATURE };
}

const signNothing = () => NO_SIGNATURE;

/** Signatory for networks without signatures: a name replaces the key, and signatures are zeros. */
export function deriveUnsignedSignatory(seed: string, ordinal: number): Signatory {
  return { publicKey: deriveSecret(seed, ordinal), sign: signNothing, unsigned: NO_SIGNATURE };
}
