/** What a scripted agent can do and know; it never learns which world it lives in. */
import type { Signatory, SignedRequest } from '../../../engine/internal.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { BlockTalk, KnownHead, ReceivedMeme, ReceivedVote } from './known.js';
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
  /** Churn: it goes away, or comes back. */
  | { type: 'leave' }
  | { type: 'return' };

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
  send(from: number, request: SignedRequest): void;
  /** Calls on the agent at an instant. */
  schedule(agent: number, at: number, event: ScheduledEvent): void;
  agentId(agent: number): string;
  /** Name of its group; '' for somebody who is not of the scenario. */
  groupOf(agent: number): string;
  /** The key of an agent that signs a transaction for somebody else's block. */
  signatoryOf(agent: number): Signatory;
  neighbours(agent: number): readonly number[];
  /** A block that the agent has received, while it is talked about. */
  block(agent: number, hash: string): BlockTalk | undefined;
  /** Whether the agent knows that the voting is over. */
  knowsClosed(agent: number, hash: string): boolean;
  /** The head as the agent knows it. */
  head(agent: number): KnownHead;
  /** The neighbours' votes that the agent has received. */
  receivedVotes(agent: number, hash: string): readonly ReceivedVote[];
  receivedMemes(agent: number, hash: string): ReceivedMeme[];
  /** Tells the neighbours which memes moved the agent. */
  share(agent: number, hash: string, memes: readonly string[]): void;
  /** Notes what is in a block that the agent proposes. */
  noteContent(note: ContentNote): void;
  /** Notes how the agent decided. */
  decided(note: DecisionNote): void;
  /** Alliances that the agent is a member of. */
  alliancesOf(agent: number): readonly string[];
}
