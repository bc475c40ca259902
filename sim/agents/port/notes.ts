/** What agents note down about their own doing, for whoever measures a run. */
import type { Decision } from '../../../engine/internal.js';
import type { Opinions, Personality } from '../../scenario/schema/personalities.js';
import type { ReceivedMeme } from './known.js';

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
