/** What is said about one block, with the names of the messages that say it. */
import type { Decision } from '../../../engine/internal.js';
import type { BlockTalk } from '../../agents/port/known.js';
import type { OwnNumbers } from '../messages.js';

/** What is told to neighbours. */
export interface Told {
  at: number;
  /** The message's name, and its size. */
  name: number;
  bytes: number;
  /** When it arrives at each neighbour, once settled, where its sender's uplink has a limit. */
  arrivals?: Float64Array;
}

/** A meme as its author tells of it. */
export interface PostedMeme extends Told {
  id: string;
}

/** A remark as its author tells of it. */
export interface ToldRemark extends Told {
  message: string;
  stance: Decision | null;
}

export interface Talk extends BlockTalk {
  closedAt: number;
  /** Names of the events that open and close it, and the size of each. */
  readonly opening: number;
  readonly closing: number;
  /** Counts the messages about it. */
  readonly numbers: OwnNumbers;
  /** When each agent receives that it is open. */
  readonly receivedAt: Float64Array;
  openingBytes: number;
  closingBytes: number;
  /** Of votes that counted, by agent; 0 where it has not voted. `voteNames`: of their messages. */
  readonly votedAt: Float64Array;
  readonly decisions: Uint8Array;
  readonly voteNames: Uint32Array;
  readonly voteBytes: Uint32Array;
  /** By agent: when its vote arrives at each neighbour, as in what is told. */
  readonly voteArrivals: Map<number, Float64Array>;
  /** By meme: what it speaks for, and what it says. */
  readonly stances: Map<string, Decision>;
  readonly texts: Map<string, string>;
  /** By agent: 1 when it has posted or passed on a meme; most never do. */
  readonly memes: Uint8Array;
  /** By agent: its memes, its remarks, and the memes that its vote refers to and so passes on. */
  readonly posted: Map<number, PostedMeme[]>;
  readonly remarks: Map<number, ToldRemark[]>;
  readonly references: Map<number, readonly string[]>;
}
