/**
 * Model state: plain data about a network, its deadlines, remembered requests and metrics. The
 * other files in this folder contain the rules.
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
import type { PollVote, Verdict } from '../../engine/rules/rule.js';

/** Largest score. Scores start at half this value. */
export const WHOLE = 1_000_000;
const HALF = WHOLE / 2;

interface Scores {
  meme: number;
  consistency: number;
  peer: number;
  alliance: number;
  penalty: number;
  overall: number;
  /** Last published overall score. */
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
  /** Order of registration, from 0. */
  number: number;
  id: string;
  /** First 12 hex digits of the id, for faster sorting. */
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
  /** Signing time of the last status update (null: none yet), and its signing input. */
  signedAt: number | null;
  input: string;
  dormant: boolean;
  /** Consecutive failed voting periods without a vote, and the end of the last period counted. */
  missed: number;
  countedAt: number;
  produced: number;
  memeBytes: number;
  /** Block in voting. */
  open: Block | null;
  /** Active alliances with this member. */
  alliances: Set<Alliance>;
  /** Active alliances, plus proposed alliances that the agent founded. */
  commitments: number;
  scores: Scores;
}

/** Electorate of a block, shared by blocks proposed without a change in between. */
export interface Electorate {
  /** Weight by agent number; 0 outside the electorate. */
  weights: Uint8Array;
  total: number;
  heads: number;
  /** Electors by personality. */
  groups: Map<string, number>;
}

/** Data needed only while the block is in voting. */
interface Ballots {
  proposal: ProposeCommand;
  /** Voters' numbers, in voting order. */
  voters: number[];
  /** Voters by referenced meme. */
  references: Map<string, number[]>;
  /** Number of rejecting voters by personality. */
  rejections: Map<string, number>;
  /** Number of personality groups with a veto that have rejected the block. */
  vetoes: number;
  /** Votes as the network's rule counts them; empty if the auditor decides by its own formulas. */
  polled: PollVote[];
}

/** First members in every description of a block. */
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
  /** Names of the options; absent if the rule does not choose among options. */
  options?: readonly string[];
  /** Members that only some rules set, once the block is closed. */
  outcome: Omit<Verdict, 'status'>;
  /** Counted ballots by agent number, to recognize repeated votes. */
  cast: Map<number, unknown>;
  /** Null after the block is closed. */
  ballots: Ballots | null;
  /** Vote (see electorate.ts) and time since the proposal, by agent number. */
  marks: Uint8Array;
  votedAfterMs: Uint32Array;
  approve: number;
  reject: number;
  closedAt: number;
}

export interface Alliance {
  id: string;
  founder: Agent;
  /** Members in order of acceptance, with the founder first. Unchanged when the alliance ends. */
  members: Agent[];
  /** Invited agents that have not answered, ascending by id. */
  invited: Agent[];
  /** Agents that have answered, including agents that left. Founding counts as an answer. */
  answered: Set<Agent>;
  purpose: string;
  duration: string;
  durationMs: number;
  status: AllianceStatus;
  /** Answer sent to the founder. */
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
  /** Number of predicted events. */
  seq: number;
  /** Events predicted since time last advanced. */
  predicted: Event[];
  /** Agents by number, key and id. */
  readonly agents: Agent[];
  readonly byKey: Map<string, Agent>;
  readonly byId: Map<string, Agent>;
  activeValidators: number;
  activeProducers: number;
  readonly blocks: Map<string, Block>;
  readonly open: Map<string, Block>;
  head: { hash: string; height: number };
  /** Failed voting periods since the last finalized block, and the end of the last counted one. */
  readonly stall: { periods: number; countedAt: number };
  /** Electorate of the next block; null if it must be recomputed. */
  electorate: Electorate | null;
  readonly memes: Map<string, Meme>;
  readonly alliances: Map<string, Alliance>;
  /** Final transactions, as `hash signer`. */
  readonly transactions: Set<string>;
  /** Values set by state diffs, each with the block that set the value. */
  readonly values: Map<string, { value: unknown; block: string }>;
  /** Remembered requests with their times and answers, oldest first. */
  readonly requests: Map<string, { at: number; answer: object }>;
  /** Transactions finalized in the last minute, oldest first. */
  readonly finalized: { at: number; count: number }[];
  /** Time at which the last finalized transaction is a minute old. */
  stillAt: number;
  /** Time of the next periodic metrics; null while no transactions are finalized. */
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
    predicted: [],
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

export type PredictedOutcome =
  | { result: 'accepted' | 'duplicate'; data: object }
  | { result: 'refused' | 'equivocation'; reason: string; details: Record<string, unknown> };

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

/** Order of deadlines at one instant. */
const ranks = { alliance: 0, block: 1, metrics: 2 } as const;

export interface Deadline {
  due: number;
  of: keyof typeof ranks;
  /** Id of the alliance or block. */
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

/** Returns the answer to an identical request if the request is still remembered. */
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

/** Finalized transactions per second over the last minute, truncated to two decimals. */
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

/** Schedules metrics after a finalized block. Metrics due at the same instant are not repeated. */
export function blockFinal(state: State, at: number, transactions: number): void {
  if (transactions > 0) {
    state.finalized.push({ at, count: transactions });
    state.stillAt = at + WINDOW_MS;
  }
  if (at < state.stillAt) setMetrics(state, Math.ceil(at / INTERVAL_MS) * INTERVAL_MS);
}

/** Schedules the next periodic metrics if the last metrics still counted transactions. */
export function renewMetrics(state: State, due: number): void {
  state.metricsDue = null;
  if (due + 1 >= state.stillAt) return;
  setMetrics(state, Math.floor(due / INTERVAL_MS) * INTERVAL_MS + INTERVAL_MS);
}

/** Schedules metrics at a multiple of the interval, or earlier when throughput drops to zero. */
function setMetrics(state: State, multiple: number): void {
  const due = Math.min(multiple, state.stillAt);
  if (due === state.metricsDue) return;
  state.metricsDue = due;
  state.deadlines.push({ due, of: 'metrics', id: '' });
}
