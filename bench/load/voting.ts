/**
 * One block in a run. Sends as many approvals as decide it, and replaces each refused or lost one.
 * Events and accepted approvals determine which blocks are final.
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
  sign(ballots: Ballots, count: number): void;
  /** Called after the response to a vote: another may be sent, or the block is over. */
  changed(voting: Voting, how: 'decided' | 'lost' | 'failed' | 'accepted'): void;
}

/** Reasons for which a server refuses a vote after the end of voting. */
const endOfVoting = new Set(['VOTING_CLOSED', 'UNKNOWN_BLOCK']);

export class Voting {
  readonly plan: VotingPlan;
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

  next(): Call | null {
    if (!this.wants) return null;
    const body = this.ballots.bodyAt(this.#handed);
    if (body === null) {
      const { agents, sign } = this.plan;
      // The spare votes are used up, so all remaining voters sign.
      if (this.#handed >= this.ballots.planned) sign(this.ballots, agents.length);
      return null;
    }
    const voter = this.plan.agents[this.ballots.voterAt(this.#handed)]!;
    this.#handed += 1;
    this.plan.record.used(voter.ordinal, this.ballots.signedAtMs);
    return new VoteCall(this, voter, body);
  }

  get wants(): boolean {
    if (this.hash === null || this.#over) return false;
    return this.#handed - this.#failed < this.needed && this.#handed < this.plan.agents.length;
  }

  /** True if a further vote can be sent at once. */
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

export function proposalCall({ plan }: Voting, completed: (outcome: CallOutcome) => void): Call {
  const { agents, block } = plan;
  return {
    ...{ operation: 'propose', agent: block.producer, body: block.body },
    ...{ method: 'POST', target: '/api/v1/blocks/propose' },
    headers: agents[block.producer]!.headers,
    holds: (data) => proposalHolds(data, block.parent),
    completed,
  };
}

/** Records the producer's key and the keys of the transaction senders. */
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

/** The protocol does not define this response. It must not contradict the proposal. */
function proposalHolds(data: unknown, parent: string): boolean {
  if (!isRecord(data) || data.duplicate === true) return false;
  const { block_hash, parent_hash } = data;
  const isHash = typeof block_hash === 'string' && /^[0-9a-f]{64}$/i.test(block_hash);
  return (
    (block_hash === undefined || isHash) && [undefined, parent].includes(parent_hash as string)
  );
}

/** Implemented as a class, so that the many instances share their code. */
class VoteCall implements Call {
  readonly operation = 'vote';
  readonly agent: number;
  readonly method = 'POST';
  readonly target = '/api/v1/consensus/vote';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly #voting: Voting;
  readonly #voter: Agent;

  constructor(voting: Voting, voter: Agent, body: string) {
    this.agent = voter.ordinal;
    this.headers = voter.headers;
    this.body = body;
    this.#voting = voting;
    this.#voter = voter;
  }

  /** The protocol does not define this response. It must not contradict the vote. */
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
 * A run's final blocks, with the time in the event stream. A block is final by its outcome, by the
 * hash of the head, or by the height if it has enough accepted approvals.
 */

interface Undecided {
  hash: string;
  height: number;
  transactions: number;
  intendedMs: number;
  approved: boolean;
}

export class Finality {
  readonly #waiting = new Map<string, Undecided>();
  readonly #finalized: (block: Undecided, atMs: number) => void;
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

  /** Called when enough approvals were accepted, maybe after the height was reported. */
  approved(hash: string): void {
    const block = this.#waiting.get(hash);
    if (!block) return;
    block.approved = true;
    if (this.#reached.height >= block.height) this.#final(block, this.#reached.atMs);
  }

  final(hash: string, atMs: number): void {
    const block = this.#waiting.get(hash);
    if (block) this.#final(block, atMs);
  }

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
  /** A block at this height is final, but the server does not report its hash. */
  | { kind: 'height'; height: number }
  | { kind: 'proposal'; hash: string; parent: string; height: number; producer: string };

/** Votes are the most frequent events and are not needed here. */
const VOTE_EVENT = Buffer.from('"block_validation"');

/** Returns null for other events and for invalid text. */
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
    ...{ hash: String(block_hash), parent: String(parent_hash) },
    height: Number(height),
    producer: isRecord(producer) ? String(producer.public_key) : '',
  } as const;
}
