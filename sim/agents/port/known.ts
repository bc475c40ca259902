/** What an agent knows of blocks, votes and memes: received some time after it happened. */
import type { Decision } from '../../../engine/internal.js';

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
