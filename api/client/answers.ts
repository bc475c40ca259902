/** Shapes of what the server answers, from the schemas that it answers by. Types only. */
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type { ProposalBody, VoteBody } from '../../engine/protocol/schema/request.js';
import type { AgentView, BlockView } from '../../engine/protocol/schema/view.js';

export type {
  AgentList,
  AgentView,
  AnswerOf,
  BlockView,
  NetworkState,
  ReputationView,
} from '../../engine/protocol/schema/view.js';

/** One page; `next_cursor` is null on the last one. */
export interface Paged {
  next_cursor: string | null;
}

/** Newest first. */
export interface BlockPage extends Paged {
  blocks: BlockView[];
}

/** A block with its proposal as it was signed, the producer's key, and its entry in the log. */
export type BlockDetail = BlockView & {
  proposal: ProposalBody;
  public_key: string;
  entry: number;
};

/** Signed votes; with the electorate they prove the outcome. */
export interface VotePage extends Paged {
  block_hash: string;
  electorate: { agent_id: string; public_key: string; weight: number }[];
  votes: { public_key: string; vote: VoteBody }[];
}

/** A transaction that is final, and where. */
export interface FinalTransaction {
  hash: string;
  status: 'finalized';
  /** One for each key that signed this transaction and had it finalized. */
  signers: { signer: string; block_hash: string; height: number; index: number }[];
  next_cursor: string | null;
}

/** What the finalized blocks have left under a key. */
export interface StateValue {
  key: string;
  value: unknown;
  /** The block that wrote it. */
  block_hash: string;
}

/** Alliances, ascending by id. */
export interface AlliancePage extends Paged {
  alliances: EventData['alliance_update'][];
}

/** Events of the server's history `epoch`, ascending; `last_seq` is its last one. */
export interface EventPage extends Paged {
  events: Event[];
  epoch: string;
  last_seq: number;
}

/** Registered agents in order of registration; `number` is what pictures and spans call one. */
export interface RosterPage extends Paged {
  agents: (Omit<AgentView, 'description' | 'reason' | 'expected_duration'> & { number: number })[];
}

/** Votes of one agent that counted, newest block first. */
export interface AgentVotePage extends Paged {
  agent_id: string;
  votes: {
    block_hash: string;
    height: number;
    block_status: BlockView['status'];
    decision: VoteBody['decision'];
    entry: number;
    /** Milliseconds since 1970. */
    at: number;
    meme_references: string[];
  }[];
}

/** Memes, newest first. */
export interface MemePage extends Paged {
  memes: {
    meme_id: string;
    creator: string;
    type: 'image' | 'text' | 'gif';
    media_type: string;
    caption: string;
    tags: string[];
    /** Bytes of its file. */
    size: number;
    /** Milliseconds since 1970. */
    at: number;
    entry: number;
  }[];
}

/** An entry of the log as it was sent, and the events that came of it. */
export interface EntryShown {
  entry: number;
  /** Milliseconds since 1970. */
  at: number;
  kind: string;
  /** Who asked; '' for what nobody asked for. */
  agent_id: string;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
  log_digest?: string;
  digest?: string;
  events: Event[];
}

/** The network's parameters and position, and the server's limits. */
export interface Meta extends Genesis {
  version: string;
  epoch: string;
  schema_version: number;
  seq: number;
  event_seq: number;
  digest: string;
  log_digest: string;
  durable: boolean;
  limits: { profile: 'spec' | 'bench' | 'off'; per_minute: Record<string, number> };
}
