/** What a scripted agent can do and know; it never learns which world it lives in. */
import type { Decision, SignedRequest } from '../engine/index.js';
import type { BlockTalk, HeardMeme } from './knowledge.js';

/** Why an agent is called. */
export type Wake =
  | { what: 'join' }
  | { what: 'hear'; block: string }
  | { what: 'vote'; block: string }
  /** `turn` is the agent's latest: an older call is void. */
  | { what: 'produce'; turn: number }
  | { what: 'mingle' }
  | { what: 'invited'; alliance: string };

export interface World {
  readonly networkId: string;
  /** Milliseconds since 1970, of the world's time. */
  readonly now: number;
  /** Hands a request to the network; it arrives later. */
  send(from: number, request: SignedRequest): void;
  wake(agent: number, at: number, wake: Wake): void;
  agentId(agent: number): string;
  neighbours(agent: number): readonly number[];
  /** A block that the agent has heard of, while it is talked about. */
  block(agent: number, hash: string): BlockTalk | undefined;
  /** Whether the agent knows that the voting is over. */
  knowsClosed(agent: number, hash: string): boolean;
  /** The head as the agent knows it, and whether it knows of a block in voting on it. */
  head(agent: number): { hash: string; contested: boolean };
  /** The neighbours' votes that the agent has heard of. */
  votesHeard(agent: number, hash: string): Iterable<{ decision: Decision; ally: boolean }>;
  memesHeard(agent: number, hash: string): HeardMeme[];
  /** Tells the neighbours which memes moved the agent. */
  share(agent: number, hash: string, memes: readonly string[]): void;
  /** Notes what is in a block that the agent proposes. */
  publish(hash: string, soundness: number, hasMeme: boolean): void;
  /** Alliances that the agent is a member of. */
  alliancesOf(agent: number): readonly string[];
}
