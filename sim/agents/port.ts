/**
 * The interface between scripted agents and their world, in virtual time and on a live network. The
 * world drives a behaviour and collects the questions that agents put to deciders. Agents leave
 * notes for the measures. Keys are derived from the seed, so the same run signs the same bytes.
 */

import { keyPairFromSeed, signatory } from '../../engine/crypto/keys.js';
import type { Signatory } from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import type { Stream, Subject } from '../rng.js';
import type { Inhabitant } from '../scenario/population.js';
import type { Opinions, Personality } from '../scenario/schema/personalities.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Callbacks of an agent. */
export interface Strategy {
  /** The agent receives a block in voting. */
  hear(agent: ScriptedAgent, world: World, block: BlockTalk): void;
  /** The agent's thinking time is over. `round` counts the calls for the block, from 0. */
  vote(agent: ScriptedAgent, world: World, block: BlockTalk, round: number): void;
  /** The agent's turn to produce a block. */
  produce(agent: ScriptedAgent, world: World): void;
  /** An occasion for social actions. */
  socialize(agent: ScriptedAgent, world: World): void;
  /** The agent is invited to an alliance. */
  invited(agent: ScriptedAgent, world: World, alliance: string): void;
  /** The agent has joined, or restarts after a crash. */
  start?(agent: ScriptedAgent, world: World): void;
  /** A timer that the agent set has fired. */
  wake?(agent: ScriptedAgent, world: World): void;
  /** A neighbour's message has arrived. */
  receive?(agent: ScriptedAgent, world: World, message: ReceivedMessage): void;
}

export interface ScriptedAgent extends Inhabitant {
  by: Signatory;
  strategy: Strategy;
  producer: boolean;
  validator: boolean;
  /** Times in the run of joining and of permanent departure; infinite if the agent stays. */
  joinsMs: number;
  leavesMs: number;
  /** The agent has received its registration. */
  joined: boolean;
  /** The agent has received its permanent departure. */
  left: boolean;
  /** The agent has set a status other than active. */
  onBreak: boolean;
  /** Churn keeps the agent away. It does not return by itself. */
  away: boolean;
  /** Number of the latest production turn. Earlier turns are void. */
  turn: number;
  votes: number;
  /** Proposals sent. With the ordinal, this number names the draws of the next proposal. */
  proposals: number;
  /** Social occasions so far. */
  occasions: number;
  /**
   * Random draws for a purpose: one stream for the whole run, or one per subject. `round`
   * distinguishes repeated decisions about the same subject.
   */
  rng(purpose: string, subject?: Subject, round?: number): Stream;
}

/** True between joining and permanent departure. The world ignores an agent that is not here. */
export function isHere({ joinsMs, leavesMs }: ScriptedAgent, runMs: number): boolean {
  return joinsMs <= runMs && runMs < leavesMs;
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
  /** After joining or restarting. */
  | { type: 'start' }
  /** A timer that the agent set. */
  | { type: 'wake' }
  | { type: 'receive'; message: ReceivedMessage }
  /** Churn: temporary absence and return. */
  | { type: 'leave' }
  | { type: 'return' };

/** A message to neighbours: frozen plain data. */
export interface TalkContent {
  content: unknown;
  /** Size as canonical JSON. */
  bytes: number;
}

/** The subject of a request. The block names its draws. A vote carries its note. */
export type RequestAbout = { note: DecisionNote } | { block: string };

export interface World {
  readonly scenario: Scenario;
  readonly networkId: string;
  /** Unix time of the world in milliseconds. */
  readonly now: number;
  /** Unix time of the start of the run in milliseconds. */
  readonly startMs: number;
  /** Seed of draws that do not belong to an agent. */
  readonly seedNumber: number;
  /** Ordinals, ascending. */
  readonly producers: readonly number[];
  /** The time by the agent's clock, RFC 3339. */
  stamp(agent: number): string;
  /** Sends a request to the network. It arrives later or is lost. */
  send(from: number, request: SignedRequest, about?: RequestAbout): void;
  /** Schedules an event for the agent. */
  schedule(agent: number, at: number, event: ScheduledEvent): void;
  agentId(agent: number): string;
  /** Name of the agent's group; empty for an agent outside the scenario. */
  groupOf(agent: number): string;
  /** The key of an agent that signs a transaction in another agent's block. */
  signatoryOf(agent: number): Signatory;
  neighbours(agent: number): readonly number[];
  /** Sends a message to some neighbours. Each copy arrives later or is lost. */
  sendTalk(from: number, to: readonly number[], said: TalkContent): void;
  /** A block that the agent has received. Undefined once it is forgotten. */
  block(agent: number, hash: string): BlockTalk | undefined;
  /** True if the agent knows that voting on the block has ended. */
  knowsClosed(agent: number, hash: string): boolean;
  head(agent: number): KnownHead;
  /** Votes of neighbours that the agent has received. */
  receivedVotes(agent: number, hash: string): readonly ReceivedVote[];
  /** Approving percentage of these votes; an ally's counts twice. Null if there are none. */
  support(agent: number, hash: string): number | null;
  /** Memes that neighbours posted, or referred to in accepted votes. */
  receivedMemes(agent: number, hash: string): readonly ReceivedMeme[];
  /** Remarks of neighbours that the agent has received. */
  receivedRemarks(agent: number, hash: string): ReceivedRemark[];
  /** Records the content of a block that the agent proposes. */
  noteContent(note: ContentNote): void;
  /** Ids of the agent's alliances. */
  alliancesOf(agent: number): readonly string[];
  /** Agents that share an alliance with the agent. */
  alliesOf(agent: number): readonly number[];
  /** Members of an alliance, including its founder. */
  membersOf(alliance: string): readonly number[];
  /** The agent's last known overall reputation, 0 to 100. */
  reputationOf(agent: number): number;
}

/** A vote that an agent has received. */
export interface ReceivedVote {
  /** Ordinal of the neighbour. */
  agent: number;
  /** The neighbour's decision. */
  decision: Decision;
  /** True if the two agents share an active alliance. */
  ally: boolean;
}

/** A meme that an agent has received. */
export interface ReceivedMeme {
  /** Meme id. */
  id: string;
  /** The decision that the meme argues for. */
  stance: Decision;
  /** Content; empty if it is not a short text or its author is outside the scenario. */
  text: string;
}

/** A remark about a block that an agent has received. */
export interface ReceivedRemark {
  /** Ordinal of the neighbour. */
  agent: number;
  /** The decision that the remark argues for. Null if neutral. */
  stance: Decision | null;
  /** Text of the remark. */
  message: string;
}

/** A message from a neighbour's script. */
export interface ReceivedMessage {
  /** Ordinal of the sender. */
  readonly from: number;
  /** Plain data, as sent. */
  readonly content: unknown;
}

/** A block that is or was in voting. */
export interface BlockTalk {
  readonly hash: string;
  readonly parent: string;
  readonly proposedAt: number;
  /** Ordinal; -1 if the producer is outside the scenario. */
  readonly producer: number;
  /** Names the producer in draws: its ordinal, or a number below -1 outside the scenario. */
  readonly place: number;
  /** Number of earlier proposals of the producer. With `place`, it names draws. */
  readonly number: number;
  /** 0 while the block is in voting. */
  readonly closedAt: number;
  /** Percent. */
  readonly soundness: number;
  readonly hasMeme: boolean;
  /** Data of each transaction. */
  readonly transactions: readonly string[];
}

export interface KnownHead {
  hash: string;
  /** The agent knows a block in voting on this head. */
  contested: boolean;
  /** One of those blocks is the agent's. */
  own: boolean;
}

export interface Behaviour {
  /** Handles a scheduled event that is due. */
  handle(agent: ScriptedAgent, world: World, event: ScheduledEvent): void;
  /** The agent received, at `at`, that it is registered. */
  registered(agent: ScriptedAgent, world: World, at: number): void;
  /** The agent received its status as of `at`. */
  handleStatus(
    agent: ScriptedAgent,
    world: World,
    at: number,
    status: EventData['agent_status']['status'],
  ): void;
  /** Open schedule: the producer received, at `at`, that a block has closed. */
  blockClosed(agent: ScriptedAgent, world: World, at: number, block: Subject): void;
}

/** Calls agents in order. `next` calls one and returns true if more are due. */
export type CallLoop = (next: () => boolean) => void;

/** A vote as decided by its agent. It travels with the request and counts if that is accepted. */
export interface DecisionNote {
  agent: number;
  block: string;
  decision: Decision;
  /** The decision without any memes. Null if the strategy cannot tell. */
  withoutMemes: Decision | null;
  /** Absent if the strategy does not state its reasons. */
  basis?: Basis | undefined;
  /** Ids of received memes about the block. */
  receivedMemes: readonly string[];
  /** Ids of memes that the vote refers to. */
  memeReferences: readonly string[];
}

/**
 * Grounds of a decision: opinions weighed by a personality, with the memes behind one of them; a
 * single factor; or the reason given by a script.
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

/** Content of a block that a scripted agent proposes. */
export interface ContentNote {
  block: string;
  /** Number of earlier proposals of the producer. Absent if it belongs to another run. */
  number?: number;
  /** Percent of sound transactions. */
  soundness: number;
  hasMeme: boolean;
  /** Data of each transaction. Absent if unknown. */
  transactions?: readonly string[];
  /** Ordinals of the signers, one per transaction. */
  senders: readonly number[];
}

/** Cost of one answer. */
export interface AnswerCost {
  /** Calls made, including retries. */
  calls: number;
  /** No usable answer: the agent does nothing. */
  failed: boolean;
  inputTokens: number;
  outputTokens: number;
}

export interface DecidedCall {
  agent: number;
  /** Time of the question, in the world's time. */
  at: number;
  cost: AnswerCost;
  /** Performs the commands of the answer. */
  act(): void;
}

export interface QuestionGate {
  /** True while the agent waits for an answer. Its later events wait too. */
  waits(agent: number): boolean;
  /** Resolves to the answers to all open questions, in the order of the questions. */
  answers(): Promise<readonly DecidedCall[]>;
}

/** Returns the percentage of sound transactions; 50 for a block without transactions. */
export function soundness(transactions: readonly { data: string }[]): number {
  if (transactions.length === 0) return 50;
  const sound = transactions.filter(({ data }) => addsUp(data));
  return Math.floor((100 * sound.length) / transactions.length);
}

/** Transactions of agents outside the scenario may hold any text. */
function addsUp(data: string): boolean {
  try {
    const { amount } = JSON.parse(data) as { amount?: unknown };
    return typeof amount === 'number' && amount > 0;
  } catch {
    return false;
  }
}

/** The tag that links a meme to its block. */
export const blockTag = (blockHash: string): string => `b_${blockHash.slice(0, 12)}`;
export const stanceTag: Record<Decision, string> = { approve: 'pro', reject: 'contra' };

export const deriveSecret = (seed: string, ordinal: number) =>
  sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`);

export function deriveSignatory(seed: string, ordinal: number): Signatory {
  return signatory(keyPairFromSeed(Buffer.from(deriveSecret(seed, ordinal), 'hex')));
}

const NO_SIGNATURE = '0'.repeat(128);
const notAtAll = () => NO_SIGNATURE;

/** For networks without signatures: a derived name replaces the key, and signatures are zeros. */
export function deriveUnsignedSignatory(seed: string, ordinal: number): Signatory {
  return { publicKey: deriveSecret(seed, ordinal), sign: notAtAll, unsigned: NO_SIGNATURE };
}
