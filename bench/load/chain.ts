/**
 * The chain of blocks that a run builds: proposes on the head, has it approved, goes on from there.
 * Either the votes or the proposals are the schedule's arrivals, and the others are sent beside
 * them. Where they are the proposals, one is sent while the block before it is in voting, if the
 * server lets it wait. Others may build on the same chain: then it goes on from their block.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Agent } from './agents.js';
import { type BlocksAhead, withSpares } from './blocks.js';
import { newHistogram, percentile, record as sample } from './recorder.js';
import { readHead, type ServerClient, validatorKeys } from './server.js';
import type { SignedRecord } from './signers.js';
import {
  type ChainEvent,
  countNeeded,
  electorateFor,
  Finality,
  noteUse,
  proposalCall,
  readChainEvent,
  toUndecided,
  Voting,
} from './voting.js';
import type { Call, CallOutcome, Limit, RunContext, Wait } from './workload.js';

interface ChainPlan {
  context: RunContext;
  asker: ServerClient;
  /** All of them vote. */
  agents: readonly Agent[];
  blocks: BlocksAhead;
  record: SignedRecord;
  head: { hash: string; height: number };
  /** Whether the server lets a proposal wait for the end of its parent. */
  takesEarly: boolean;
  /** Active on the server, others' included. */
  validators: number;
  /** The keys that sign transactions in turn. */
  senders: { first: number; count: number };
  arrivals: 'votes' | 'proposals';
}

const POLL_MS = 20;
const WATCH_MS = 1_000;
/** Leaves room for larger blocks, which take longer. */
const MARGIN = 1.25;
/** Limits of the option --agents, and of a block in the protocol. */
const MOST = { agents: 100_000, batch: 1_000 } as const;

export class Chain {
  readonly #plan: ChainPlan;
  readonly #finality: Finality;
  readonly #watch: NodeJS.Timeout;
  #head: { hash: string; height: number };
  #open: Voting | null = null;
  /** Proposed on the open block, whose end it waits for. */
  #ahead: Voting | null = null;
  #validators: number;
  /** Blocks of others, by height. */
  readonly #others = new Map<number, string>();
  /** The stream says which block is final, not only how high the chain is. */
  #hashesTold = false;
  /** A proposal came too early once: from then on the stream is waited for. */
  #patient = false;
  #confirmed = true;
  readonly #looks: HeadLooks;
  /** Times from one head of the chain to the next, milliseconds. */
  readonly #rounds = newHistogram();
  #steppedMs: number | null = null;
  #progressMs: number;
  #begun = false;
  #ending = false;

  constructor(plan: ChainPlan) {
    this.#plan = plan;
    this.#head = plan.head;
    this.#looks = new HeadLooks(plan.asker, (found) => this.#looked(found));
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

  /** Names the cause while `next` has no call. */
  get waitsFor(): Wait {
    if (this.#open) return this.#open.wants ? 'signatures' : 'answers';
    const told = !this.#patient || this.#confirmed;
    return this.#looks.pending || !told ? 'answers' : 'signatures';
  }

  /**
   * Blocks follow one another, so a round offers the arrivals of one block. The median round
   * counts: a server that stalls for a while does not lower the chain's limit.
   */
  limit(perS: number): Limit | null {
    const roundMs = percentile(this.#rounds, 50);
    if (roundMs === null) return null;
    const { agents, arrivals, context } = this.#plan;
    const blocksPerS = 1_000 / Math.max(0.001, roundMs);
    const wanted = (MARGIN * perS) / blocksPerS;
    if (arrivals === 'proposals') {
      const value = roundedUp(wanted * context.options.batch);
      return value > MOST.batch ? null : { perS: blocksPerS, option: '--batch', value };
    }
    const others = this.#validators - agents.length;
    const value = roundedUp(Math.max(1, electorateFor(Math.ceil(wanted)) - others));
    const offered = blocksPerS * countNeeded(this.#validators);
    return value > MOST.agents ? null : { perS: offered, option: '--agents', value };
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
    this.#looks.close();
  }

  #mayPropose(): boolean {
    if (!this.#begun || this.#ending || this.#looks.pending) return false;
    if (this.#open) return this.#mayProposeEarly(this.#open);
    if (this.#patient && !this.#confirmed) return false;
    return this.#plan.blocks.has(this.#head.hash);
  }

  #mayProposeEarly({ hash }: Voting): boolean {
    const { arrivals, blocks, takesEarly } = this.#plan;
    if (!takesEarly || arrivals === 'votes' || this.#ahead !== null) return false;
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
      block,
      intendedMs,
      agents,
      record,
      sign: (ballots, count) => void blocks.signVotes(ballots, count),
      changed: (which, how) => this.#voted(which, how),
    });
    if (this.#open) this.#ahead = voting;
    else this.#open = voting;
    this.#progressMs = context.now();
    noteUse(record, block, senders);
    if (block.transactions > 0) context.proposed(block.transactions, intendedMs);
    return proposalCall(voting, (outcome) => this.#proposed(voting, outcome));
  }

  #proposed(voting: Voting, outcome: CallOutcome): void {
    const { context } = this.#plan;
    this.#progressMs = context.now();
    if (outcome.kind === 'unfinished') return;
    if (outcome.kind === 'accepted') {
      const { block, intendedMs } = voting.plan;
      if (block.transactions > 0) context.transactionsAccepted(block.transactions, intendedMs);
      const answer = outcome.data as ProposeAnswer;
      // Another answer leaves it to the event.
      if (typeof answer.block_hash === 'string') this.#opens(voting, answer.block_hash, answer);
      return;
    }
    if (voting === this.#ahead) {
      this.#ahead = null;
      return this.advance();
    }
    const stale = outcome.kind === 'refused' && outcome.reason === 'STALE_PARENT';
    if (stale && !this.#confirmed) this.#patient = true;
    if (voting.hash === null) this.#lost(voting);
  }

  /** The block is there: votes can be sent. */
  #opens(voting: Voting, hash: string, answer: ProposeAnswer): void {
    // Its parent was decided; nobody has told so yet.
    if (voting === this.#ahead) this.#step(this.#open!.hash!, this.#open!.height);
    if (voting !== this.#open || voting.hash !== null) return;
    const { agents, blocks, context } = this.#plan;
    const { block } = voting.plan;
    const electorate = Number.isInteger(answer.electorate) ? Number(answer.electorate) : null;
    voting.needed = countNeeded(electorate ?? this.#validators);
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
    this.#finality.expect(toUndecided(voting));
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
    const ours = [this.#open, this.#ahead].find((one) => one?.plan.block.parent === parent);
    if (ours && agents[ours.plan.block.producer]!.publicKey === producer) {
      return this.#opens(ours, hash, { height });
    }
    this.#others.set(height, hash);
    this.#others.delete(height - 8);
  }

  /** From this head; what was open is over. */
  #goOn(hash: string, height: number): void {
    this.#step(hash, height);
    this.advance();
  }

  #step(hash: string, height: number): void {
    const nowMs = this.#plan.context.now();
    if (this.#steppedMs !== null) sample(this.#rounds, nowMs - this.#steppedMs);
    this.#steppedMs = nowMs;
    this.#head = { hash, height };
    this.#open = this.#ahead?.plan.block.parent === hash ? this.#ahead : null;
    this.#ahead = null;
    this.#looks.moved();
    this.#progressMs = nowMs;
  }

  /** The block got nowhere: looks where the chain is before the next. */
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
      // Events that came meanwhile are newer.
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

  /** When nothing came back for longer than any request may take, something was lost. */
  #unstick(): void {
    const { context } = this.#plan;
    const silentMs = context.now() - this.#progressMs;
    if (silentMs < context.options.timeoutMs + WATCH_MS || this.#open?.hasNext) return;
    if (this.#open) this.#lost(this.#open);
    else if (!this.#mayPropose()) this.#look();
  }
}

/** Rounds up to two digits. */
function roundedUp(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return step * Math.ceil(value / step);
}

/** What is read of it, if it is as the interface says. */
type ProposeAnswer = { block_hash?: unknown; height?: unknown; electorate?: unknown };

const tooMany = (ours: number, needed: number) =>
  `a block needs ${needed} approvals now, and this run has ${ours} agents: others joined meanwhile`;

/** Between two looks at a head that does not move. */
const LOOK_MS = { first: 50, most: 1_000 };

interface Head {
  hash: string;
  height: number;
}

/** What a look found. */
interface Found {
  /** The head when the look was asked for. */
  from: Head;
  /** The hash is null where the server does not show it. */
  head: { hash: string | null; height: number };
  validators: number;
}

class HeadLooks {
  readonly #asker: ServerClient;
  readonly #done: (found: Found | null) => void;
  #timer: NodeJS.Timeout | null = null;
  #count = 0;

  /** `done` is called after each look, with null where the server did not answer. */
  constructor(asker: ServerClient, done: (found: Found | null) => void) {
    this.#asker = asker;
    this.#done = done;
  }

  /** Whether one is waited for. */
  get pending(): boolean {
    return this.#timer !== null;
  }

  /** The head moved: the next look is soon again. */
  moved(): void {
    this.#count = 0;
  }

  look(from: Head): void {
    if (this.#timer) return;
    const delayMs = Math.min(LOOK_MS.most, LOOK_MS.first * 2 ** this.#count);
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
      // The server does not answer; the run's own requests show why. It is asked again.
    }
    this.#timer = null;
    this.#done(found);
  }
}
