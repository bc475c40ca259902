/**
 * The chain of blocks that a run builds: proposes on the head, has it approved, goes on from there.
 * Either the votes or the proposals are the schedule's arrivals, and the others are sent beside
 * them. Others may build on the same chain: then it goes on from their block.
 */
import type { Agent } from '../agents/agents.js';
import { type BlocksAhead, withSpares } from '../prepare/blocks.js';
import type { SignedRecord } from '../prepare/signed-record.js';
import type { Asker } from '../server/ask.js';
import { lookAtHead, validatorKeys } from '../server/state.js';
import type { Call, CallOutcome, RunContext } from '../workload.js';
import { type ChainEvent, readChainEvent } from './events.js';
import { Finality } from './finality.js';
import { neededOf, proposalHolds, undecided, Voting } from './voting.js';

export interface ChainPlan {
  context: RunContext;
  asker: Asker;
  /** All of them vote. */
  agents: readonly Agent[];
  blocks: BlocksAhead;
  record: SignedRecord;
  head: { hash: string; height: number };
  /** Active on the server, others' included. */
  validators: number;
  /** The keys that sign transactions in turn. */
  senders: { first: number; count: number };
  arrivals: 'votes' | 'proposals';
}

const POLL_MS = 20;
const WATCH_MS = 1_000;
/** Between two looks at a head that does not move. */
const LOOK_MS = { first: 50, most: 1_000 };

export class Chain {
  readonly #plan: ChainPlan;
  readonly #finality: Finality;
  readonly #watch: NodeJS.Timeout;
  #head: { hash: string; height: number };
  #open: Voting | null = null;
  #validators: number;
  /** Blocks of others, by height. */
  readonly #others = new Map<number, string>();
  /** The stream says which block is final, not only how high the chain is. */
  #hashesTold = false;
  /** A proposal came too early once: from then on the stream is waited for. */
  #patient = false;
  #confirmed = true;
  #looking: NodeJS.Timeout | null = null;
  #looks = 0;
  #progressMs: number;
  #begun = false;
  #ending = false;

  constructor(plan: ChainPlan) {
    this.#plan = plan;
    this.#head = plan.head;
    this.#validators = plan.validators;
    this.#progressMs = plan.context.now();
    this.#finality = new Finality(({ transactions, intendedMs }, atMs) => {
      if (transactions > 0) plan.context.finalized(transactions, intendedMs, atMs);
    });
    this.#watch = setInterval(() => this.#unstick(), WATCH_MS);
  }

  /** The call of the next arrival, or null until `wake`. The first one begins the chain. */
  next(intendedMs: number): Call | null {
    this.#begun = true;
    if (this.#plan.arrivals === 'proposals') return this.#proposal(intendedMs);
    if (!this.#open) this.advance();
    return this.#vote();
  }

  /** Sends what is not the schedule's, and wakes those who wait for what is. */
  advance(): void {
    const { context, arrivals } = this.#plan;
    if (arrivals === 'proposals' || this.#ending) {
      for (let vote = this.#vote(); vote; vote = this.#vote()) context.send(vote);
    } else if (this.#open?.hasNext) context.wake();
    if (!this.#mayPropose()) return;
    if (arrivals === 'proposals') return context.wake();
    const proposal = this.#proposal(context.now());
    if (proposal) context.send(proposal);
  }

  /** Takes an event as it came. */
  receive(text: Buffer): void {
    const event = readChainEvent(text);
    if (event) this.#received(event, this.#plan.context.now());
  }

  /**
   * No more proposals: resolves when the open block is decided, and all are final or late. That
   * block's last votes are sent after the measured time, and so not counted.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { options, now } = this.#plan.context;
    this.#ending = true;
    this.advance();
    const late = (intendedMs: number) => now() - intendedMs > options.finalityTimeoutMs;
    const waits = () =>
      (this.#open !== null && !late(this.#open.plan.intendedMs)) ||
      [...this.#finality.waiting].some((one) => one.transactions > 0 && !late(one.intendedMs));
    while (!signal.aborted && waits()) await pause(POLL_MS);
  }

  close(): void {
    this.#ending = true;
    clearInterval(this.#watch);
    if (this.#looking) clearTimeout(this.#looking);
  }

  #mayPropose(): boolean {
    if (!this.#begun || this.#ending || this.#open || this.#looking) return false;
    if (this.#patient && !this.#confirmed) return false;
    return this.#plan.blocks.has(this.#head.hash);
  }

  #vote(): Call | null {
    return this.#open?.next() ?? null;
  }

  #proposal(intendedMs: number): Call | null {
    if (!this.#mayPropose()) return null;
    const { agents, blocks, context, record, senders } = this.#plan;
    const block = blocks.take();
    const { producer, transactions, firstTransaction, signedAtMs, body } = block;
    const voting = new Voting({
      block,
      intendedMs,
      agents,
      record,
      sign: (ballots, count) => void blocks.signVotes(ballots, count),
      changed: (which, how) => this.#voted(which, how),
    });
    this.#open = voting;
    this.#progressMs = context.now();
    record.used(producer, signedAtMs);
    for (let index = 0; index < transactions; index += 1) {
      record.used(senders.first + ((firstTransaction + index) % senders.count), signedAtMs);
    }
    if (transactions > 0) context.proposed(transactions, intendedMs);
    return {
      operation: 'propose',
      method: 'POST',
      target: '/api/v1/blocks/propose',
      headers: agents[producer]!.headers,
      body,
      holds: (data) => proposalHolds(data, block.parent),
      completed: (outcome) => this.#proposed(voting, outcome),
    };
  }

  #proposed(voting: Voting, outcome: CallOutcome): void {
    const { context } = this.#plan;
    this.#progressMs = context.now();
    if (outcome.kind === 'unfinished') return;
    if (outcome.kind === 'accepted') {
      const { block, intendedMs } = voting.plan;
      const { transactions } = block;
      if (transactions > 0) context.transactionsAccepted(transactions, intendedMs);
      const answer = outcome.data as {
        block_hash?: unknown;
        height?: unknown;
        electorate?: unknown;
      };
      // Another answer leaves it to the event.
      if (typeof answer.block_hash === 'string') this.#opens(voting, answer.block_hash, answer);
      return;
    }
    const stale = outcome.kind === 'refused' && outcome.reason === 'STALE_PARENT';
    if (stale && !this.#confirmed) this.#patient = true;
    if (voting.hash === null) this.#lost(voting);
  }

  /** The block is there: votes can be sent. */
  #opens(voting: Voting, hash: string, answer: { height?: unknown; electorate?: unknown }): void {
    if (voting !== this.#open || voting.hash !== null) return;
    const { agents, blocks, context } = this.#plan;
    const { block } = voting.plan;
    const electorate = Number.isInteger(answer.electorate) ? Number(answer.electorate) : null;
    voting.needed = neededOf(electorate ?? this.#validators);
    if (voting.needed > agents.length) return context.fail(tooMany(agents.length, voting.needed));
    voting.hash = hash;
    voting.height = Number.isInteger(answer.height) ? Number(answer.height) : this.#head.height + 1;
    if (hash !== block.hash) {
      blocks.foretellsNothing();
      voting.ballots = blocks.ballotsFor(block, hash);
    }
    if (voting.ballots.planned < voting.needed) {
      void blocks.signVotes(voting.ballots, withSpares(voting.needed));
    }
    this.#finality.expect(undecided(voting));
    this.advance();
  }

  #voted(voting: Voting, how: 'decided' | 'lost' | 'failed' | 'accepted'): void {
    this.#progressMs = this.#plan.context.now();
    if (how === 'decided') {
      this.#confirmed = false;
      this.#finality.approved(voting.hash!);
      if (voting === this.#open) this.#goOn(voting.hash!, voting.height);
    } else if (voting !== this.#open) return;
    else if (how === 'lost') this.#lost(voting);
    else if (how === 'failed') this.advance();
  }

  #received(event: ChainEvent, atMs: number): void {
    if (event.kind === 'final') {
      this.#hashesTold = true;
      this.#final(event.hash, event.height, atMs);
    } else if (event.kind === 'closed') {
      this.#finality.closed(event.hash);
      if (this.#open?.hash === event.hash) this.#goOn(this.#head.hash, this.#head.height);
    } else if (event.kind === 'height') {
      if (!this.#hashesTold) this.#finality.reached(event.height, atMs);
    } else this.#heardOfProposal(event);
  }

  /** The server says that this block is the head, or was. */
  #final(hash: string, height: number, atMs: number): void {
    this.#finality.final(hash, atMs);
    if (hash === this.#head.hash) {
      this.#confirmed = true;
      if (this.#patient) this.advance();
    } else if (height > this.#head.height) {
      this.#confirmed = true;
      this.#goOn(hash, height);
    }
  }

  #heardOfProposal({ hash, parent, height, producer }: ChainEvent & { kind: 'proposal' }): void {
    const { agents } = this.#plan;
    const open = this.#open;
    const ours = open && agents[open.plan.block.producer]!.publicKey === producer;
    if (ours && parent === open.plan.block.parent) return this.#opens(open, hash, { height });
    this.#others.set(height, hash);
    this.#others.delete(height - 8);
  }

  /** From this head; what was open is over. */
  #goOn(hash: string, height: number): void {
    this.#head = { hash, height };
    this.#open = null;
    this.#looks = 0;
    this.#progressMs = this.#plan.context.now();
    this.advance();
  }

  /** The block got nowhere: looks where the chain is before the next. */
  #lost(voting: Voting): void {
    if (voting !== this.#open) return;
    this.#open = null;
    this.#look();
  }

  #look(): void {
    if (this.#looking || this.#ending) return;
    const delayMs = Math.min(LOOK_MS.most, LOOK_MS.first * 2 ** this.#looks);
    this.#looks += 1;
    this.#looking = setTimeout(() => void this.#looked(), delayMs);
  }

  async #looked(): Promise<void> {
    const { asker } = this.#plan;
    const before = this.#head;
    try {
      const head = await lookAtHead(asker);
      this.#validators = (await validatorKeys(asker)).length;
      // Events that came meanwhile are newer.
      if (this.#head === before) {
        const hash = head.hash ?? this.#others.get(head.height) ?? null;
        if (hash !== null) this.#head = { hash, height: head.height };
        this.#confirmed = true;
      }
    } catch {
      // The server does not answer; the run's own requests show why. It is asked again.
    }
    this.#looking = null;
    this.#progressMs = this.#plan.context.now();
    this.advance();
  }

  /** When nothing came back for longer than any request may take, something was lost. */
  #unstick(): void {
    const { context } = this.#plan;
    const silentMs = context.now() - this.#progressMs;
    if (silentMs < context.options.timeoutMs + WATCH_MS || this.#open?.hasNext) return;
    if (this.#open) this.#lost(this.#open);
    else if (!this.#mayPropose()) this.#look();
  }
}

const tooMany = (ours: number, needed: number) =>
  `a block needs ${needed} approvals now, and this run has ${ours} agents: others joined meanwhile`;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
