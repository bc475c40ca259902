/**
 * The chain of blocks that a run builds: it proposes on the head, has the block approved, and
 * continues. Either votes or proposals are the arrivals; the others are sent outside the schedule.
 * A server that allows it gets a proposal while its parent is in voting. The run continues from
 * blocks of other agents.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bisect, type NetworkRule } from '../../engine/rules/network-rule.js';
import type { Agent } from './agents.js';
import { type BlocksAhead, withSpares } from './blocks.js';
import { note } from './messages.js';
import { MOST, type Shard } from './options.js';
import { newHistogram, percentile, record as sample } from './percentiles.js';
import { readHead, type ServerClient, validatorKeys } from './server.js';
import type { SignedRecord } from './signers.js';
import {
  type ChainEvent,
  Finality,
  noteUse,
  proposalCall,
  readChainEvent,
  Voting,
} from './voting.js';
import type { Call, CallOutcome, Limit, RunContext, Wait } from './workload.js';

interface ChainPlan {
  context: RunContext;
  asker: ServerClient;
  /** Agents of the run. All of them vote. */
  agents: readonly Agent[];
  blocks: BlocksAhead;
  record: SignedRecord;
  head: { hash: string; height: number };
  rule: NetworkRule;
  /** True if the server accepts a proposal before its parent is decided. */
  takesEarly: boolean;
  /** Number of active validators on the server, including other agents. */
  validators: number;
  /** Range of keys that sign transactions in turn. */
  senders: { first: number; count: number };
  arrivals: 'votes' | 'proposals';
  /** Position among several generators, which propose in turn. */
  shard?: Pick<Shard, 'index' | 'count'>;
}

/** Time after which the next generator may propose in place of one that has nothing to propose. */
const TURN_MS = 1_000;
const POLL_MS = 20;
const WATCH_MS = 1_000;
/** Margin for larger blocks, which take longer. */
const MARGIN = 1.25;

export class Chain {
  readonly #plan: ChainPlan;
  readonly #finality: Finality;
  readonly #watch: NodeJS.Timeout;
  #head: { hash: string; height: number };
  #open: Voting | null = null;
  /** Block proposed on top of the open block. */
  #ahead: Voting | null = null;
  #validators: number;
  readonly #others = new Map<number, string>();
  /** True if the stream reports the hashes of final blocks, not only their height. */
  #hashesTold = false;
  /** True after a proposal was too early. From then on, proposals wait for the stream. */
  #waitsForHead = false;
  #confirmed = true;
  readonly #looks: HeadLooks;
  /** Times from one head to the next, in milliseconds. */
  readonly #rounds = newHistogram();
  #steppedMs: number | null = null;
  #progressMs: number;
  #begun = false;
  #ending = false;
  /** Hash of another generator's block on the head. */
  #other: string | null = null;
  #turnMs = 0;
  #turnTimer: NodeJS.Timeout | null = null;

  constructor(plan: ChainPlan) {
    this.#plan = plan;
    this.#head = plan.head;
    this.#looks = new HeadLooks(plan.asker, (found) => this.#looked(found));
    this.#validators = plan.validators;
    this.#progressMs = plan.context.now();
    this.#finality = new Finality(({ hash, transactions, intendedMs }, atMs) => {
      plan.context.block(hash, transactions, intendedMs, atMs);
      if (transactions > 0) plan.context.recorder.finalized(transactions, intendedMs, atMs);
    });
    this.#watch = setInterval(() => this.#unstick(), WATCH_MS);
  }

  /** Returns the call for the next arrival; null until `wake`. The first one starts the chain. */
  next(intendedMs: number): Call | null {
    this.#begun = true;
    if (this.#plan.arrivals === 'proposals') return this.#proposal(intendedMs);
    if (!this.#open) this.advance();
    return this.#vote();
  }

  /** Called when a server responds again after an outage. A pending read of the head starts now. */
  onReturned(): void {
    this.#looks.hurry(this.#head);
    this.advance();
  }

  get waitsFor(): Wait {
    if (this.#open) return this.#open.wants ? 'signatures' : 'answers';
    const told = !this.#waitsForHead || this.#confirmed;
    return this.#looks.pending || !told ? 'answers' : 'signatures';
  }

  /**
   * Returns the offered arrivals per second, and the option value that would offer `perS`. A round
   * from one head to the next offers the arrivals of one block. The median round counts, because
   * stalls are brief.
   */
  limit(perS: number): Limit | null {
    const roundMs = percentile(this.#rounds, 50);
    if (roundMs === null) return null;
    const { agents, arrivals, context, rule } = this.#plan;
    const blocksPerS = 1_000 / Math.max(0.001, roundMs);
    const wanted = (MARGIN * perS) / blocksPerS;
    if (arrivals === 'proposals') {
      const value = roundedUp(wanted * context.options.batch);
      return value > MOST.batch ? null : { perS: blocksPerS, option: '--batch', value };
    }
    const others = this.#validators - agents.length;
    const large = (electors: number) => rule.approvalsToClose(electors) >= Math.ceil(wanted);
    const value = roundedUp(Math.max(1, bisect(1, 2 * MOST.agents, large) - others));
    const offered = blocksPerS * rule.approvalsToClose(this.#validators);
    return value > MOST.agents ? null : { perS: offered, option: '--agents', value };
  }

  /** Sends calls outside the schedule, and wakes waiting arrivals. */
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

  receive(text: Buffer): void {
    const event = readChainEvent(text);
    if (event) this.#received(event, this.#plan.context.now());
  }

  /**
   * Stops proposing. Resolves once the open block is decided, and transactions are final or late.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { options, now } = this.#plan.context;
    this.#ending = true;
    this.advance();
    const late = (intendedMs: number) => now() - intendedMs > options.finalityTimeoutMs;
    const waits = () =>
      (this.#open !== null && !late(this.#open.plan.intendedMs)) ||
      [...this.#finality.waiting].some((one) => one.transactions > 0 && !late(one.intendedMs));
    while (!signal.aborted && waits()) await sleep(POLL_MS);
  }

  close(): void {
    this.#ending = true;
    clearInterval(this.#watch);
    this.#stopTurn();
    this.#looks.close();
  }

  #mayPropose(): boolean {
    if (!this.#begun || this.#ending || this.#looks.pending) return false;
    if (this.#open) return this.#mayProposeEarly(this.#open);
    if (this.#waitsForHead && !this.#confirmed) return false;
    if (!this.#isTurn()) return false;
    return this.#plan.blocks.has(this.#head.hash);
  }

  /** Returns true if this generator may propose. They take turns, and replace a silent one. */
  #isTurn(): boolean {
    const { shard, context } = this.#plan;
    if (!shard) return true;
    if (this.#other !== null) return false;
    // The first generator begins, because its first arrival is the earliest.
    const turn = (this.#head.height - this.#plan.head.height) % shard.count;
    const waitMs = TURN_MS * ((shard.index - turn + shard.count) % shard.count);
    const leftMs = this.#turnMs + waitMs - context.now();
    if (leftMs <= 0) return true;
    // Signs the block meanwhile.
    this.#plan.blocks.has(this.#head.hash);
    this.#turnTimer ??= setTimeout(() => {
      this.#turnTimer = null;
      this.advance();
    }, leftMs);
    return false;
  }

  #mayProposeEarly({ hash }: Voting): boolean {
    const { arrivals, blocks, takesEarly } = this.#plan;
    if (!takesEarly || arrivals === 'votes' || this.#ahead !== null || this.#plan.shard) {
      return false;
    }
    return hash !== null && blocks.has(hash);
  }

  #vote(): Call | null {
    return this.#open?.next() ?? null;
  }

  #proposal(intendedMs: number): Call | null {
    if (!this.#mayPropose()) return null;
    const { agents, blocks, context, record, senders } = this.#plan;
    const block = blocks.take();
    const voting = new Voting({
      ...{ block, intendedMs, agents, record },
      sign: (ballots, count) => void blocks.signVotes(ballots, count),
      changed: (which, how) => this.#voted(which, how),
    });
    if (this.#open) this.#ahead = voting;
    else this.#open = voting;
    this.#progressMs = context.now();
    noteUse(record, block, senders);
    if (block.transactions > 0) context.recorder.proposed(block.transactions, intendedMs);
    return proposalCall(voting, (outcome) => this.#proposed(voting, outcome));
  }

  #proposed(voting: Voting, outcome: CallOutcome): void {
    const { context } = this.#plan;
    this.#progressMs = context.now();
    if (outcome.kind === 'unfinished') return;
    if (outcome.kind === 'accepted') {
      const { block, intendedMs } = voting.plan;
      if (block.transactions > 0) {
        context.recorder.transactionsAccepted(block.transactions, intendedMs);
      }
      const answer = outcome.data as ProposeAnswer;
      // For any other response, the stream event decides.
      if (typeof answer.block_hash === 'string') this.#opens(voting, answer.block_hash, answer);
      return;
    }
    if (voting === this.#ahead) {
      this.#ahead = null;
      return this.advance();
    }
    const stale = outcome.kind === 'refused' && outcome.reason === 'STALE_PARENT';
    if (stale && !this.#confirmed) this.#waitsForHead = true;
    if (voting.hash === null) this.#lost(voting);
  }

  /** The block exists, so votes can be sent. */
  #opens(voting: Voting, hash: string, answer: ProposeAnswer): void {
    // The parent was decided, although no event has reported this yet.
    if (voting === this.#ahead) this.#step(this.#open!.hash!, this.#open!.height);
    if (voting !== this.#open || voting.hash !== null) return;
    const { agents, blocks, context, rule } = this.#plan;
    const { block } = voting.plan;
    const electorate = Number.isInteger(answer.electorate) ? Number(answer.electorate) : null;
    voting.needed = rule.approvalsToClose(electorate ?? this.#validators);
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
    const { height, plan } = voting;
    const waiting = { transactions: block.transactions, intendedMs: plan.intendedMs };
    this.#finality.expect({ hash, height, ...waiting, approved: false });
    context.block(hash, block.transactions, plan.intendedMs, null);
    this.advance();
  }

  #voted(voting: Voting, how: 'decided' | 'lost' | 'failed' | 'accepted'): void {
    this.#progressMs = this.#plan.context.now();
    if (how === 'decided') {
      this.#confirmed = false;
      this.#finality.approved(voting.hash!);
      if (voting === this.#open) this.#adoptHead(voting.hash!, voting.height);
    } else if (voting !== this.#open) return;
    else if (how === 'lost') this.#lost(voting);
    else if (how === 'failed') this.advance();
  }

  #received(event: ChainEvent, atMs: number): void {
    if (event.kind === 'final') {
      this.#hashesTold = true;
      this.#onFinalized(event.hash, event.height, atMs);
    } else if (event.kind === 'closed') {
      this.#finality.closed(event.hash);
      if (event.hash === this.#other) this.#freeTurn();
      if (this.#open?.hash === event.hash) this.#adoptHead(this.#head.hash, this.#head.height);
    } else if (event.kind === 'height') {
      if (!this.#hashesTold) this.#finality.reached(event.height, atMs);
    } else this.#heardOfProposal(event);
  }

  /** Called when the server reports that this block is, or was, the head. */
  #onFinalized(hash: string, height: number, atMs: number): void {
    this.#finality.final(hash, atMs);
    if (hash === this.#head.hash) {
      this.#confirmed = true;
      if (this.#waitsForHead) this.advance();
    } else if (height > this.#head.height) {
      this.#confirmed = true;
      this.#adoptHead(hash, height);
    }
  }

  #heardOfProposal({ hash, parent, height, producer }: ChainEvent & { kind: 'proposal' }): void {
    const { agents } = this.#plan;
    const ours = [this.#open, this.#ahead].find((one) => one?.plan.block.parent === parent);
    if (ours && agents[ours.plan.block.producer]!.publicKey === producer) {
      return this.#opens(ours, hash, { height });
    }
    if (this.#plan.shard && parent === this.#head.hash) {
      this.#other = hash;
      // The next block builds on this one, unless it fails.
      if (!this.#open) this.#plan.blocks.has(hash);
    }
    this.#others.set(height, hash);
    this.#others.delete(height - 8);
  }

  #freeTurn(): void {
    this.#other = null;
    this.#turnMs = this.#plan.context.now();
    this.#stopTurn();
    this.advance();
  }

  #stopTurn(): void {
    if (this.#turnTimer) clearTimeout(this.#turnTimer);
    this.#turnTimer = null;
  }

  /** Continues from this head and drops the open block. */
  #adoptHead(hash: string, height: number): void {
    this.#step(hash, height);
    this.advance();
  }

  #step(hash: string, height: number): void {
    const nowMs = this.#plan.context.now();
    if (this.#steppedMs !== null) sample(this.#rounds, nowMs - this.#steppedMs);
    this.#steppedMs = nowMs;
    this.#head = { hash, height };
    this.#other = null;
    this.#turnMs = nowMs;
    this.#stopTurn();
    this.#open = this.#ahead?.plan.block.parent === hash ? this.#ahead : null;
    this.#ahead = null;
    this.#looks.moved();
    this.#progressMs = nowMs;
  }

  /** Called when the block failed. Reads the head before the next proposal. */
  #lost(voting: Voting): void {
    if (voting !== this.#open) return;
    this.#open = null;
    this.#ahead = null;
    this.#look();
  }

  #look(): void {
    if (!this.#ending) this.#looks.look(this.#head);
  }

  #looked(found: Found | null): void {
    if (found) {
      this.#validators = found.validators;
      // If the head changed meanwhile, the events that changed it are newer.
      if (this.#head === found.from) {
        const { height } = found.head;
        const hash = found.head.hash ?? this.#others.get(height) ?? null;
        if (hash !== null) this.#head = { hash, height };
        this.#confirmed = true;
      }
    }
    this.#progressMs = this.#plan.context.now();
    this.advance();
  }

  /** Restarts if no request has returned for longer than any request may take. */
  #unstick(): void {
    const { context } = this.#plan;
    const silentMs = context.now() - this.#progressMs;
    if (silentMs < context.options.timeoutMs + WATCH_MS || this.#open?.hasNext) return;
    if (this.#open) this.#lost(this.#open);
    else if (!this.#mayPropose()) this.#look();
  }
}

function roundedUp(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return step * Math.ceil(value / step);
}

/** Response to a proposal, unvalidated. */
type ProposeAnswer = { block_hash?: unknown; height?: unknown; electorate?: unknown };

const tooMany = (agents: number, needed: number) =>
  note('BLOCK_UNDECIDABLE', { needed, agents }).text;

/** Interval between reads of the head while the head does not move. */
const LOOK_MS = { first: 50, most: 1_000 };

interface Head {
  hash: string;
  height: number;
}

interface Found {
  /** Head at the time of the read request. */
  from: Head;
  /** Head that the server returned. The hash is null if the server does not report it. */
  head: { hash: string | null; height: number };
  validators: number;
}

class HeadLooks {
  readonly #asker: ServerClient;
  readonly #done: (found: Found | null) => void;
  #timer: NodeJS.Timeout | null = null;
  #count = 0;

  /** @param done called after each read; null if the server did not respond. */
  constructor(asker: ServerClient, done: (found: Found | null) => void) {
    this.#asker = asker;
    this.#done = done;
  }

  get pending(): boolean {
    return this.#timer !== null;
  }

  /** Shortens the interval again, because the head has moved. */
  moved(): void {
    this.#count = 0;
  }

  hurry(from: Head): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#count = 0;
    this.look(from, 0);
  }

  look(from: Head, delayMs = Math.min(LOOK_MS.most, LOOK_MS.first * 2 ** this.#count)): void {
    if (this.#timer) return;
    this.#count += 1;
    this.#timer = setTimeout(() => void this.#look(from), delayMs);
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #look(from: Head): Promise<void> {
    let found: Found | null = null;
    try {
      const head = await readHead(this.#asker);
      const validators = (await validatorKeys(this.#asker)).length;
      found = { from, head, validators };
    } catch {
      // No response. The run's requests report the cause, and the read is repeated.
    }
    this.#timer = null;
    this.#done(found);
  }
}
