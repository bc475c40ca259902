/** What the model holds about a network: plain data, changed by the functions beside this file. */
import type {
  AllianceStatus,
  BlockStatus,
  Event,
  Genesis,
  MemeCommand,
  ProposeCommand,
  Status,
} from '../../../../engine/internal.js';
import { type Deadlines, newDeadlines } from './deadlines.js';

/** Scores start at a half of the whole. */
export const WHOLE = 1_000_000;
const HALF = WHOLE / 2;

export interface Scores {
  meme: number;
  consistency: number;
  peer: number;
  alliance: number;
  penalty: number;
  overall: number;
  /** `overall` as it was last published. */
  published: number;
}

export const freshScores = (): Scores => ({
  meme: HALF,
  consistency: HALF,
  peer: HALF,
  alliance: HALF,
  penalty: 0,
  overall: HALF,
  published: HALF,
});

export interface Agent {
  /** In order of registration, from 0. */
  number: number;
  id: string;
  /** The first 12 hex digits of its id, as a number: agents are put in order by it sooner. */
  place: number;
  key: string;
  personality: string;
  name: string;
  description: string;
  validator: boolean;
  producer: boolean;
  registeredAt: number;
  status: Status;
  previous: Status;
  reason: string;
  expectedDuration: string;
  changedAt: number;
  /** The last status update: its signed instant, null before the first, and its signing input. */
  signedAt: number | null;
  input: string;
  dormant: boolean;
  /** Voting periods in a row that failed without its vote, and the end of the last one counted. */
  missed: number;
  countedAt: number;
  produced: number;
  memeBytes: number;
  /** Its block in voting. */
  open: Block | null;
  /** Active alliances that it is a member of. */
  alliances: Set<Alliance>;
  /** Those, and the proposed ones that it founded. */
  commitments: number;
  scores: Scores;
}

/** Who votes on a block. Blocks proposed while nothing changed share it. */
export interface Electorate {
  /** By agent number; 0 for who is not in it. */
  weights: Uint8Array;
  total: number;
  heads: number;
  /** Heads by personality. */
  groups: Map<string, number>;
}

/** What a block is only asked for while it is in voting. */
export interface Ballots {
  proposal: ProposeCommand;
  /** Numbers of the agents that voted, in order. */
  voters: number[];
  /** Who refers to a meme, by number. */
  references: Map<string, number[]>;
  /** Heads that voted reject, by personality. */
  rejections: Map<string, number>;
  /** A personality of three or more has rejected as one. */
  vetoed: boolean;
}

export interface Block {
  hash: string;
  parent: string;
  height: number;
  producer: Agent;
  transactions: number;
  electorate: Electorate;
  proposedAt: number;
  deadline: number;
  status: BlockStatus;
  /** Null once it is closed. */
  ballots: Ballots | null;
  /** By agent number: how it voted (see votes.ts), and how long after the proposal. */
  marks: Uint8Array;
  votedAfterMs: Uint32Array;
  approve: number;
  reject: number;
  closedAt: number;
}

export interface Alliance {
  id: string;
  founder: Agent;
  /** In order of acceptance, the founder first; they stay when it ends. */
  members: Agent[];
  /** Ascending by id: who has not answered. */
  invited: Agent[];
  /** Who has answered, also if it left since. Founding is an answer. */
  answered: Set<Agent>;
  purpose: string;
  duration: string;
  durationMs: number;
  status: AllianceStatus;
  /** What its founder was answered. */
  founding: object;
  deadline: number;
  changedAt: number;
}

export interface Meme {
  creator: Agent;
  command: MemeCommand;
  at: number;
}

export interface State {
  readonly genesis: Genesis;
  /** Events predicted so far. */
  seq: number;
  /** By number, by key and by id. */
  readonly agents: Agent[];
  readonly byKey: Map<string, Agent>;
  readonly byId: Map<string, Agent>;
  activeValidators: number;
  activeProducers: number;
  readonly blocks: Map<string, Block>;
  readonly open: Map<string, Block>;
  head: { hash: string; height: number };
  /** Failed voting periods since the last finalized block, and the end of the last one counted. */
  readonly stall: { periods: number; countedAt: number };
  /** That of a block proposed now; null when it must be drawn up again. */
  electorate: Electorate | null;
  readonly memes: Map<string, Meme>;
  readonly alliances: Map<string, Alliance>;
  /** Final ones, `hash signer`. */
  readonly transactions: Set<string>;
  /** What state diffs have made, and by which block. */
  readonly values: Map<string, { value: unknown; block: string }>;
  /** When remembered requests were accepted and what was answered, oldest first. */
  readonly requests: Map<string, { at: number; answer: object }>;
  /** Finalized transactions of the last minute, oldest first. */
  readonly finalized: { at: number; count: number }[];
  /** When the last of them is a minute old. */
  stillAt: number;
  /** When metrics are due by themselves; null while nothing flows. */
  metricsDue: number | null;
  pendingTransactions: number;
  readonly deadlines: Deadlines;
  readonly counts: Record<Exclude<BlockStatus, 'voting'> | 'proposed' | 'votes', number> & {
    transactions: number;
  };
}

export const GENESIS_HASH = '0'.repeat(64);

export function newState(genesis: Genesis): State {
  return {
    genesis,
    seq: 0,
    agents: [],
    byKey: new Map(),
    byId: new Map(),
    activeValidators: 0,
    activeProducers: 0,
    blocks: new Map(),
    open: new Map(),
    head: { hash: GENESIS_HASH, height: 0 },
    stall: { periods: 0, countedAt: 0 },
    electorate: null,
    memes: new Map(),
    alliances: new Map(),
    transactions: new Set(),
    values: new Map(),
    requests: new Map(),
    finalized: [],
    stillAt: 0,
    metricsDue: null,
    pendingTransactions: 0,
    deadlines: newDeadlines(),
    counts: {
      proposed: 0,
      votes: 0,
      finalized: 0,
      rejected: 0,
      expired: 0,
      orphaned: 0,
      transactions: 0,
    },
  };
}

/** What became of a command, as the model has it. */
export type PredictedOutcome =
  | { result: 'accepted' | 'duplicate'; data: object }
  | { result: 'refused' | 'equivocation'; reason: string; details: Record<string, unknown> };

/** Events predicted in one step. */
export type PredictedEvents = Event[];

export type Refused = PredictedOutcome & { result: 'refused' };
export const refused = (reason: string, details: Record<string, unknown> = {}): Refused => ({
  result: 'refused',
  reason,
  details,
});
export const duplicate = (data: object): PredictedOutcome => ({
  result: 'duplicate',
  data: { ...data, duplicate: true },
});
