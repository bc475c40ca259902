/**
 * The state of the model: plain data about a network, its deadlines, the requests that it
 * remembers, and the figures that it publishes. The rules that change it are in the other files of
 * this folder.
 */

import TinyQueue from 'tinyqueue';
import type { MemeCommand, ProposeCommand } from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type {
  AllianceStatus,
  BlockStatus,
  Status,
} from '../../engine/protocol/schema/primitives.js';

/** Scores start at a half of the whole. */
export const WHOLE = 1_000_000;
const HALF = WHOLE / 2;

interface Scores {
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
interface Ballots {
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

/** What all tellings of a block begin with. */
export const blockHead = (command: ProposeCommand, height: number) => ({
  block_hash: command.block_hash,
  parent_hash: command.parent_hash,
  height,
});

export interface Block {
  hash: string;
  height: number;
  head: ReturnType<typeof blockHead>;
  producer: Agent;
  transactions: number;
  electorate: Electorate;
  proposedAt: number;
  deadline: number;
  status: BlockStatus;
  /** Null once it is closed. */
  ballots: Ballots | null;
  /** By agent number: how it voted (see electorate.ts), and how long after the proposal. */
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

const GENESIS_HASH = '0'.repeat(64);

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

type Refused = PredictedOutcome & { result: 'refused' };
export const createRefusal = (reason: string, details: Record<string, unknown> = {}): Refused => ({
  result: 'refused',
  reason,
  details,
});
export const createDuplicate = (data: object): PredictedOutcome => ({
  result: 'duplicate',
  data: { ...data, duplicate: true },
});

/** At one instant alliances come before blocks, and blocks before metrics. */
const ranks = { alliance: 0, block: 1, metrics: 2 } as const;

export interface Deadline {
  due: number;
  of: keyof typeof ranks;
  /** Of the alliance or block. */
  id: string;
}

function order(a: Deadline, b: Deadline): number {
  if (a.due !== b.due) return a.due - b.due;
  if (a.of !== b.of) return ranks[a.of] - ranks[b.of];
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

type Deadlines = TinyQueue<Deadline>;
const newDeadlines = (): Deadlines => new TinyQueue([], order);

const MEMORY_MS = 600_000;

/** What the same request was answered, if that is not too long ago. */
export function answerBefore({ requests }: State, id: string, at: number): object | null {
  const first = requests.get(id);
  return first && at - first.at <= MEMORY_MS ? first.answer : null;
}

export function rememberRequest(
  { requests }: State,
  id: string,
  { at, answer }: { at: number; answer: object },
): void {
  for (const [old, first] of requests) {
    if (at - first.at <= MEMORY_MS) break;
    requests.delete(old);
  }
  requests.set(id, { at, answer });
}

const WINDOW_MS = 60_000;
const INTERVAL_MS = 5_000;

/** Finalized transactions a second over the last minute, two decimals, cut. */
function throughput({ finalized }: State, at: number): number {
  while (finalized[0] && finalized[0].at <= at - WINDOW_MS) finalized.shift();
  const count = finalized.reduce((sum, { count }) => sum + count, 0);
  return Math.trunc((count * 100) / 60) / 100;
}

export function networkFigures(state: State, at: number) {
  return {
    block_height: state.head.height,
    tps: throughput(state, at),
    active_validators: state.activeValidators,
    active_producers: state.activeProducers,
    pending_transactions: state.pendingTransactions,
    head_hash: state.head.hash,
  };
}

/**
 * A block was finalized: while anything flows, metrics come from this instant on. Those that came
 * with the block stand for those that were due with it.
 */
export function blockFinal(state: State, at: number, transactions: number): void {
  if (transactions > 0) {
    state.finalized.push({ at, count: transactions });
    state.stillAt = at + WINDOW_MS;
  }
  if (at < state.stillAt) setMetrics(state, Math.ceil(at / INTERVAL_MS) * INTERVAL_MS);
}

/** Metrics that were due have come: the next ones follow if anything flowed when they were due. */
export function renewMetrics(state: State, due: number): void {
  state.metricsDue = null;
  if (due + 1 >= state.stillAt) return;
  setMetrics(state, Math.floor(due / INTERVAL_MS) * INTERVAL_MS + INTERVAL_MS);
}

/** At a multiple of the interval, or before it at the instant at which nothing flows any more. */
function setMetrics(state: State, multiple: number): void {
  const due = Math.min(multiple, state.stillAt);
  if (due === state.metricsDue) return;
  state.metricsDue = due;
  state.deadlines.push({ due, of: 'metrics', id: '' });
}
