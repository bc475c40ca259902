/**
 * The port between scripted agents and their world: what an agent is, knows and can do, in virtual
 * time and on a live network. The world is given a behaviour and collects the questions that agents
 * put to deciders; agents leave notes for the measures. Keys follow from the seed, so the same run
 * signs the same bytes.
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

/** Why an agent is called. */
export type ScheduledEvent =
  | { type: 'join' }
  | { type: 'hear'; block: string }
  | { type: 'vote'; block: string; round: number }
  /** `turn` is the agent's latest: an older call is void. */
  | { type: 'produce'; turn: number }
  | { type: 'socialize' }
  | { type: 'invited'; alliance: string }
  /** After a crash. */
  | { type: 'restart' }
  /** It leaves for good. */
  | { type: 'depart' }
  /** The agent has joined, or begins again after a crash. */
  | { type: 'start' }
  /** It wanted to be called again. */
  | { type: 'wake' }
  /** A neighbour's message has come. */
  | { type: 'receive'; message: ReceivedMessage }
  /** Churn: it goes away, or comes back. */
  | { type: 'leave' }
  | { type: 'return' };

/** What is told to neighbours: plain data, which nobody may change. */
export interface TalkContent {
  content: unknown;
  /** Of its canonical JSON. */
  bytes: number;
}

/** What a request is about: its draws are named by the block. A vote has its note with it. */
export type RequestAbout = { note: DecisionNote } | { block: string };

export interface World {
  readonly scenario: Scenario;
  readonly networkId: string;
  /** Milliseconds since 1970, of the world's time. */
  readonly now: number;
  /** When the run began. */
  readonly startMs: number;
  /** Names the draws of the run that belong to nobody. */
  readonly seedNumber: number;
  /** Ordinals of the producers, ascending. */
  readonly producers: readonly number[];
  /** The time as the agent's own clock shows it, RFC 3339. */
  stamp(agent: number): string;
  /** Hands a request to the network; it arrives later, or is lost. */
  send(from: number, request: SignedRequest, about?: RequestAbout): void;
  /** Calls on the agent at an instant. */
  schedule(agent: number, at: number, event: ScheduledEvent): void;
  agentId(agent: number): string;
  /** Name of its group; '' for somebody who is not of the scenario. */
  groupOf(agent: number): string;
  /** The key of an agent that signs a transaction for somebody else's block. */
  signatoryOf(agent: number): Signatory;
  neighbours(agent: number): readonly number[];
  /** Tells some neighbours something; to each it arrives later, or is lost. */
  sendTalk(from: number, to: readonly number[], said: TalkContent): void;
  /** A block that the agent has received, while it is talked about. */
  block(agent: number, hash: string): BlockTalk | undefined;
  /** Whether the agent knows that the voting is over. */
  knowsClosed(agent: number, hash: string): boolean;
  /** The head as the agent knows it. */
  head(agent: number): KnownHead;
  /** The neighbours' votes that the agent has received. */
  receivedVotes(agent: number, hash: string): readonly ReceivedVote[];
  /** The approving share of these votes, in whole percent; an ally's weighs 2. Null without any. */
  support(agent: number, hash: string): number | null;
  /** Memes that its neighbours posted, or passed on with votes that counted. */
  receivedMemes(agent: number, hash: string): readonly ReceivedMeme[];
  /** The neighbours' remarks that the agent has received. */
  receivedRemarks(agent: number, hash: string): ReceivedRemark[];
  /** Notes what is in a block that the agent proposes. */
  noteContent(note: ContentNote): void;
  /** Alliances that the agent is a member of. */
  alliancesOf(agent: number): readonly string[];
  /** Who shares an alliance with the agent. */
  alliesOf(agent: number): readonly number[];
  /** Who is in an alliance, or founds it. */
  membersOf(alliance: string): readonly number[];
  /** The agent's overall reputation as it was last told, 0 to 100. */
  reputationOf(agent: number): number;
}

/** A vote that an agent has received. */
export interface ReceivedVote {
  /** Ordinal of the neighbour. */
  agent: number;
  /** What it decided. */
  decision: Decision;
  /** Whether the two share an active alliance. */
  ally: boolean;
}

/** A meme that an agent has received. */
export interface ReceivedMeme {
  /** Its id. */
  id: string;
  /** What it speaks for. */
  stance: Decision;
  /** What it says; '' for one that is no short text, or of a stranger. */
  text: string;
}

/** A remark about a block that an agent has received. */
export interface ReceivedRemark {
  /** Ordinal of the neighbour that made it. */
  agent: number;
  /** What it speaks for; null where it is neutral. */
  stance: Decision | null;
  /** What was said. */
  message: string;
}

/** A message of a neighbour's script. */
export interface ReceivedMessage {
  /** Ordinal of its sender. */
  readonly from: number;
  /** Plain data, as it was sent. */
  readonly content: unknown;
}

/** A block in voting, or one that was. */
export interface BlockTalk {
  readonly hash: string;
  readonly parent: string;
  readonly proposedAt: number;
  /** Ordinal; -1 when it is nobody of the scenario. */
  readonly producer: number;
  /** Names its producer in draws: the ordinal, or a number below -1 for a stranger. */
  readonly place: number;
  /** How many proposals its producer sent before it: with `place`, it names draws. */
  readonly number: number;
  /** 0 while it is in voting. */
  readonly closedAt: number;
  /** 0 to 100. */
  readonly soundness: number;
  readonly hasMeme: boolean;
  /** What each of its transactions says. */
  readonly transactions: readonly string[];
}

export interface KnownHead {
  hash: string;
  /** It knows of a block in voting on it. */
  contested: boolean;
  /** Of one that is its own. */
  own: boolean;
}

export interface Behaviour {
  /** An event that was scheduled for the agent is due. */
  handle(agent: ScriptedAgent, world: World, event: ScheduledEvent): void;
  /** The network has answered or published, at an instant, that the agent is registered. */
  registered(agent: ScriptedAgent, world: World, at: number): void;
  /** The network has told, of an instant, what its status is. */
  handleStatus(
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

/** One vote as its agent decided it: it travels with the request, and counts if that does. */
export interface DecisionNote {
  agent: number;
  block: string;
  decision: Decision;
  /** What it would have decided without any memes; null for strategies that cannot say. */
  withoutMemes: Decision | null;
  /** What it rested on; left out where its strategy does not say. */
  basis?: Basis | undefined;
  /** Ids of the memes about the block that it had received. */
  receivedMemes: readonly string[];
  /** Ids of the memes that its vote refers to. */
  memeReferences: readonly string[];
}

/**
 * What a decision rested on: opinions that a personality weighed, with the memes that made one of
 * them; one thing alone; or what a script gave as its reason.
 */
export type Basis =
  | {
      by: 'judgement';
      personality: Personality;
      opinions: Opinions;
      memes: readonly ReceivedMeme[];
      /** The block carries one itself, which speaks for it. */
      hasMeme: boolean;
    }
  | { by: 'content' | 'neighbours' }
  | { by: 'script'; reason: string };

/** What is in a block that a scripted agent proposes. */
export interface ContentNote {
  block: string;
  /** How many proposals its producer sent before; left out for a producer of another run. */
  number?: number;
  /** Percent of transactions that add up. */
  soundness: number;
  hasMeme: boolean;
  /** What each of its transactions says; left out, it is not known. */
  transactions?: readonly string[];
  /** Ordinal of the signer of each transaction. */
  senders: readonly number[];
}

/** What an answer cost. */
export interface AnswerCost {
  /** Calls that it took. */
  calls: number;
  /** Without an answer that can be used, its agent does nothing. */
  failed: boolean;
  inputTokens: number;
  outputTokens: number;
}

export interface DecidedCall {
  agent: number;
  /** When it was asked, in the world's time. */
  at: number;
  cost: AnswerCost;
  /** Lets the agent do what was answered. */
  act(): void;
}

export interface QuestionGate {
  /** Whether the agent waits for an answer: whatever it is called for next waits too. */
  waits(agent: number): boolean;
  /** The answers to all that was asked, in the order of the questions; none when nothing was. */
  answers(): Promise<readonly DecidedCall[]>;
}

/** The share of transactions that add up, 0 to 100. A block without any is neither good nor bad. */
export function soundness(transactions: readonly { data: string }[]): number {
  if (transactions.length === 0) return 50;
  const sound = transactions.filter(({ data }) => addsUp(data));
  return Math.floor((100 * sound.length) / transactions.length);
}

/** Other people's transactions may hold anything. */
function addsUp(data: string): boolean {
  try {
    const { amount } = JSON.parse(data) as { amount?: unknown };
    return typeof amount === 'number' && amount > 0;
  } catch {
    return false;
  }
}

/** The tag by which a meme says which block it is about. */
export const blockTag = (blockHash: string): string => `b_${blockHash.slice(0, 12)}`;
export const stanceTag: Record<Decision, string> = { approve: 'pro', reject: 'contra' };

/** Hex. */
export const deriveSecret = (seed: string, ordinal: number) =>
  sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`);

export function deriveSignatory(seed: string, ordinal: number): Signatory {
  return signatory(keyPairFromSeed(Buffer.from(deriveSecret(seed, ordinal), 'hex')));
}

const NO_SIGNATURE = '0'.repeat(128);
const notAtAll = () => NO_SIGNATURE;

/** For networks without signatures: a name in the place of a key, and nothing signed. */
export function deriveUnsignedSignatory(seed: string, ordinal: number): Signatory {
  return { publicKey: deriveSecret(seed, ordinal), sign: notAtAll, unsigned: NO_SIGNATURE };
}
