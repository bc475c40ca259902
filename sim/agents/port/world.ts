/** What a scripted agent can do and know; it never learns which world it lives in. */
import type { Signatory, SignedRequest } from '../../../engine/internal.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type {
  BlockTalk,
  KnownHead,
  ReceivedMeme,
  ReceivedMessage,
  ReceivedRemark,
  ReceivedVote,
} from './known.js';
import type { ContentNote, DecisionNote } from './notes.js';

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
export interface Said {
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
  tell(from: number, to: readonly number[], said: Said): void;
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
