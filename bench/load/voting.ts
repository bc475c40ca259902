/**
 * One block of a run, from its proposal to its end: hands out as many approvals as decide it, and
 * another voter's for each that is refused or lost. Events of the server and accepted approvals say
 * which blocks are final.
 */
import type { Agent } from './agents.js';
import type { Ballots, Block } from './blocks.js';
import { isRecord, parseObject } from './server.js';
import type { SignedRecord } from './signers.js';
import type { Call, CallOutcome } from './workload.js';

interface VotingPlan {
  block: Block;
  intendedMs: number;
  agents: readonly Agent[];
  record: SignedRecord;
  /** More votes are wanted than were signed. */
  sign(ballots: Ballots, count: number): void;
  /** A vote came back: there may be another to send, or the block is decided, or beyond help. */
  changed(voting: Voting, how: 'decided' | 'lost' | 'failed' | 'accepted'): void;
}

/** Of `electorate` voters, so many approvals are more than two thirds. */
export const countNeeded = (electorate: number) => Math.floor((2 * electorate) / 3) + 1;

/** The smallest electorate that needs at least this many approvals. */
export const electorateFor = (needed: number) => Math.ceil(1.5 * (needed - 1));

/** Answers to a vote that say that its block takes none any more. */
const endOfVoting = new Set(['VOTING_CLOSED', 'UNKNOWN_BLOCK']);

export class Voting {
  readonly plan: VotingPlan;
  /** As the server made it; null until that is known. */
  hash: string | null = null;
  height = 0;
  needed = 0;
  ballots: Ballots;
  #handed = 0;
  #accepted = 0;
  #failed = 0;
  #over = false;

  constructor(plan: VotingPlan) {
    this.plan = plan;
    this.ballots = plan.block.ballots;
  }

  /** The next vote to be sent, or null when there is none now. */
  next(): Call | null {
    if (!this.wants) return null;
    const body = this.ballots.bodyAt(this.#handed);
    if (body === null) {
      const { agents, sign } = this.plan;
      // The spare ones are used up: all others are signed.
      if (this.#handed >= this.ballots.planned) sign(this.ballots, agents.length);
      return null;
    }
    const voter = this.plan.agents[this.ballots.voterAt(this.#handed)]!;
    this.#handed += 1;
    this.plan.record.used(voter.ordinal, this.ballots.signedAtMs);
    return new VoteCall(this, voter, body);
  }

  /** Whether another vote shall be sent. */
  get wants(): boolean {
    if (this.hash === null || this.#over) return false;
    return this.#handed - this.#failed < this.needed && this.#handed < this.plan.agents.length;
  }

  /** Whether another vote can be sent at once. */
  get hasNext(): boolean {
    return this.wants && this.#handed < this.ballots.signed;
  }

  completed(outcome: CallOutcome): void {
    if (outcome.kind === 'unfinished') return;
    const how = this.#judged(outcome);
    if (this.#over) return;
    this.#over = how === 'decided' || how === 'lost';
    this.plan.changed(this, how);
  }

  #judged(outcome: CallOutcome): 'decided' | 'lost' | 'failed' | 'accepted' {
    if (outcome.kind === 'accepted') {
      this.#accepted += 1;
      const { block_status } = outcome.data as { block_status?: unknown };
      const decided = block_status === 'finalized' || this.#accepted >= this.needed;
      return decided ? 'decided' : 'accepted';
    }
    this.#failed += 1;
    if (outcome.kind === 'refused' && endOfVoting.has(outcome.reason)) return 'lost';
    return this.plan.agents.length - this.#failed < this.needed ? 'lost' : 'failed';
  }
}

export const toUndecided = ({ hash, height, plan }: Voting): Undecided => {
  const { block, intendedMs } = plan;
  const { transactions } = block;
  return { hash: hash!, height, transactions, intendedMs, approved: false };
};

/** The proposal of its block. */
export function proposalCall({ plan }: Voting, completed: (outcome: CallOutcome) => void): Call {
  const { agents, block } = plan;
  return {
    operation: 'propose',
    method: 'POST',
    target: '/api/v1/blocks/propose',
    headers: agents[block.producer]!.headers,
    body: block.body,
    holds: (data) => proposalHolds(data, block.parent),
    completed,
  };
}

/** Its producer, and who signed its transactions, used their keys. */
export function noteUse(
  record: SignedRecord,
  { producer, transactions, firstTransaction, signedAtMs }: Block,
  senders: { first: number; count: number },
): void {
  record.used(producer, signedAtMs);
  for (let index = 0; index < transactions; index += 1) {
    record.used(senders.first + ((firstTransaction + index) % senders.count), signedAtMs);
  }
}

/** The interface does not show this answer; what a server says must fit the proposal. */
function proposalHolds(data: unknown, parent: string): boolean {
  if (!isRecord(data) || data.duplicate === true) return false;
  const { block_hash, parent_hash } = data;
  const isHash = typeof block_hash === 'string' && /^[0-9a-f]{64}$/i.test(block_hash);
  return (
    (block_hash === undefined || isHash) && [undefined, parent].includes(parent_hash as string)
  );
}

/** A class, for there are very many: what they share is made once. */
class VoteCall implements Call {
  readonly operation = 'vote';
  readonly method = 'POST';
  readonly target = '/api/v1/consensus/vote';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly #voting: Voting;
  readonly #voter: Agent;

  constructor(voting: Voting, voter: Agent, body: string) {
    this.headers = voter.headers;
    this.body = body;
    this.#voting = voting;
    this.#voter = voter;
  }

  /** The interface does not show this answer; what a server says must fit the vote. */
  holds(data: unknown): boolean {
    if (!isRecord(data)) return false;
    const { block_hash, agent_id, decision, duplicate } = data;
    const { hash } = this.#voting;
    return (
      (block_hash === undefined || block_hash === hash) &&
      (agent_id === undefined || agent_id === this.#voter.id) &&
      (decision === undefined || decision === 'approve') &&
      duplicate !== true
    );
  }

  completed(outcome: CallOutcome): void {
    this.#voting.completed(outcome);
  }
}

/*
 * Which blocks of a run are final, and since when. What counts was seen in the event stream: an
 * outcome, the head's hash, or, where a server shows neither, that its height reached that of a
 * block for which as many approvals were accepted as it needs.
 */

interface Undecided {
  hash: string;
  height: number;
  transactions: number;
  intendedMs: number;
  /** As many approvals were accepted as it needs. */
  approved: boolean;
}

export class Finality {
  readonly #waiting = new Map<string, Undecided>();
  readonly #finalized: (block: Undecided, atMs: number) => void;
  /** Of the heights that the stream reported: the highest, and when. */
  #reached = { height: 0, atMs: 0 };

  constructor(finalized: (block: Undecided, atMs: number) => void) {
    this.#finalized = finalized;
  }

  get waiting(): Iterable<Undecided> {
    return this.#waiting.values();
  }

  expect(block: Undecided): void {
    this.#waiting.set(block.hash, block);
  }

  /** All approvals that it needs were accepted; the stream may have reported it before. */
  approved(hash: string): void {
    const block = this.#waiting.get(hash);
    if (!block) return;
    block.approved = true;
    if (this.#reached.height >= block.height) this.#final(block, this.#reached.atMs);
  }

  /** This block is the head, or was. */
  final(hash: string, atMs: number): void {
    const block = this.#waiting.get(hash);
    if (block) this.#final(block, atMs);
  }

  /** It will never be final. */
  closed(hash: string): void {
    this.#waiting.delete(hash);
  }

  reached(height: number, atMs: number): void {
    if (height > this.#reached.height) this.#reached = { height, atMs };
    for (const block of this.#waiting.values()) {
      if (block.approved && block.height <= height) this.#final(block, atMs);
    }
  }

  #final(block: Undecided, atMs: number): void {
    this.#waiting.delete(block.hash);
    this.#finalized(block, atMs);
  }
}

export type ChainEvent =
  | { kind: 'final'; hash: string; height: number }
  /** Rejected, expired or orphaned. */
  | { kind: 'closed'; hash: string }
  /** Something at this height is final; the server does not say what. */
  | { kind: 'height'; height: number }
  | { kind: 'proposal'; hash: string; parent: string; height: number; producer: string };

/** Votes are by far the most, and of no interest here. */
const VOTE_EVENT = Buffer.from('"block_validation"');

/** Null for what is of no interest, or no event. */
export function readChainEvent(text: Buffer): ChainEvent | null {
  if (text.subarray(0, 64).includes(VOTE_EVENT)) return null;
  const { type, data } = parseObject(text.toString());
  if (!isRecord(data)) return null;
  if (type === 'block_status') return readOutcome(data);
  if (type === 'network_metrics') return readMetrics(data);
  return type === 'block_proposal' ? readProposal(data) : null;
}

function readOutcome({ block_hash, height, status }: Record<string, unknown>): ChainEvent | null {
  if (typeof block_hash !== 'string') return null;
  if (status === 'finalized') return { kind: 'final', hash: block_hash, height: Number(height) };
  return { kind: 'closed', hash: block_hash };
}

function readMetrics({ head_hash, block_height }: Record<string, unknown>): ChainEvent {
  const height = Number(block_height);
  return typeof head_hash === 'string'
    ? { kind: 'final', hash: head_hash, height }
    : { kind: 'height', height };
}

function readProposal({ block_hash, parent_hash, height, producer }: Record<string, unknown>) {
  return {
    kind: 'proposal',
    hash: String(block_hash),
    parent: String(parent_hash),
    height: Number(height),
    producer: isRecord(producer) ? String(producer.public_key) : '',
  } as const;
}
