/** What an agent knows of blocks, votes and memes: received some time after it happened. */
import type { Decision } from '../../../engine/internal.js';

/** A vote that an agent has received. */
export interface ReceivedVote {
  agent: number;
  decision: Decision;
  ally: boolean;
}

/** A meme that an agent has received. */
export interface ReceivedMeme {
  id: string;
  stance: Decision;
}

/** What is said about one block. Votes and times by agent; 0 where there is none yet. */
export interface BlockTalk {
  readonly hash: string;
  /** The event that proposed it: names its messages in latency hashes. */
  readonly seq: number;
  readonly parent: string;
  readonly proposedAt: number;
  /** Ordinal; -1 when it is nobody of the scenario. */
  readonly producer: number;
  closedAt: number;
  /** 0 to 100. */
  readonly soundness: number;
  readonly hasMeme: boolean;
  readonly votedAt: Float64Array;
  readonly decisions: Uint8Array;
  readonly memes: Map<string, { stance: Decision; at: number }>;
  /** Memes that each agent made or was moved by: what its neighbours hear from it. */
  readonly passedOn: Map<number, string[]>;
}

export interface KnownHead {
  hash: string;
  /** It knows of a block in voting on it. */
  contested: boolean;
  /** Of one that is its own. */
  own: boolean;
}
