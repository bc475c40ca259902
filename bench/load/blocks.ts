/**
 * Blocks signed ahead, with their approvals. A block's hash is computed from its content, so the
 * next block can build on it and its votes can be signed before the server has seen the block. When
 * the server's chain takes a different branch, signing restarts from the head of that branch.
 */
import { extractTransactions, signedVote, voteBegin, voteEnd } from './request-texts.js';
import { aheadMs, type Signers, signatureBytes, signShare, staleMs } from './signers.js';

export interface Block {
  producer: number;
  parent: string;
  hash: string;
  timestamp: string;
  body: Uint8Array;
  transactions: number;
  /** Number of the block's first transaction, which determines the senders. */
  firstTransaction: number;
  signedAtMs: number;
  ballots: Ballots;
}

interface BlocksPlan {
  signers: Signers;
  voters: number;
  /** Ordinals of the producers, which take turns. */
  producers: readonly number[];
  batch: number;
  senders: { first: number; count: number };
  /** Number of approvals that decide a block, according to the known electorate. */
  needed: number;
  expected: number;
  blockMs: number;
  now(): number;
  onReady(): void;
  onFailed(error: Error): void;
  /** True if generators take turns. Then only transactions and one block are signed ahead. */
  alternates?: boolean;
}

const AHEAD_BYTES = 192 * 1024 * 1024;
const TRANSACTION_BYTES = 400;
const LEAST_AHEAD = 3;
const BLOCKS_OF_TASK = 32;

/** Adds spare votes of further validators, which replace lost votes. */
export const withSpares = (needed: number) => needed + 2 + Math.ceil(needed / 50);

interface TransactionText {
  first: number;
  text: Uint8Array;
}

const NO_TRANSACTIONS: TransactionText = { first: 0, text: new Uint8Array(Buffer.from('[]')) };

export class BlocksAhead {
  readonly #plan: BlocksPlan;
  readonly #most: number;
  #queue: Block[] = [];
  #loads: TransactionText[] = [];
  #tip = '';
  /** Incremented at every restart. Results from an earlier generation are dropped. */
  #generation = 0;
  #filling = false;
  #closed = false;
  #foretells = true;
  #made = 0;
  #turn = 0;
  #voterTurn = 0;
  #nextTransaction = 0;

  constructor(plan: BlocksPlan) {
    this.#plan = plan;
    const { needed, batch, blockMs } = plan;
    const bytes = withSpares(needed) * 64 + batch * TRANSACTION_BYTES + 1_000;
    this.#most = Math.max(
      LEAST_AHEAD,
      Math.floor(Math.min(aheadMs / blockMs, AHEAD_BYTES / bytes)),
    );
  }

  /** Signs the blocks and votes that the run is expected to need, up to the limits. */
  async prepare(head: string): Promise<void> {
    if (this.#plan.alternates) {
      const loads = await this.#take(Math.min(this.#plan.expected, this.#most));
      this.#loads.push(...loads);
    }
    this.begin(head);
    await this.#idle();
  }

  /** Amounts signed but not yet taken. */
  get waiting(): { blocks: number; votes: number; transactions: number } {
    const blocks = this.#queue.length;
    const votes = this.#queue.reduce((sum, { ballots }) => sum + ballots.signed, 0);
    return { blocks, votes, transactions: blocks * this.#plan.batch };
  }

  begin(head: string): void {
    this.#generation += 1;
    this.#made -= this.#queue.length;
    // These transactions were never sent, so other blocks can use them.
    for (const block of this.#queue) {
      const text = extractTransactions(block.body, block);
      this.#loads.push({ first: block.firstTransaction, text });
    }
    this.#queue = [];
    this.#tip = head;
    void this.#fill();
  }

  /** Called if the server hashes differently. Votes are then signed once a hash is known. */
  foretellsNothing(): void {
    this.#foretells = false;
  }

  /** Returns true if a block on this head is ready. Otherwise signs one and calls `onReady`. */
  has(head: string): boolean {
    const front = this.#queue[0];
    if (front?.parent === head && !this.#isStale(front)) return true;
    if (front || this.#tip !== head) this.begin(head);
    return false;
  }

  take(): Block {
    const block = this.#queue.shift()!;
    if (this.#foretells) void this.#fill();
    return block;
  }

  /** Returns votes for a block whose hash differs from the computed hash. */
  ballotsFor(block: Block, hash: string): Ballots {
    const { voters } = this.#plan;
    const first = block.ballots.voterAt(0);
    return new Ballots({ hash, timestamp: block.timestamp, first, voters });
  }

  async signVotes(ballots: Ballots, count: number): Promise<void> {
    try {
      await ballots.sign(this.#plan.signers, count, () => this.#plan.onReady());
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#generation += 1;
  }

  #isStale({ timestamp }: Block): boolean {
    return this.#plan.now() - Date.parse(timestamp) > staleMs;
  }

  get #missing(): number {
    if (!this.#foretells || this.#plan.alternates) return 1 - this.#queue.length;
    const left = this.#plan.expected - this.#made;
    return (
      Math.max(LEAST_AHEAD, Math.min(this.#most, this.#queue.length + left)) - this.#queue.length
    );
  }

  async #idle(): Promise<void> {
    while (this.#filling) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Runs at most once at a time, and restarts when the chain restarts. */
  async #fill(): Promise<void> {
    if (this.#filling) return;
    this.#filling = true;
    try {
      let generation = -1;
      let group = 1;
      while (!this.#closed && this.#missing > 0) {
        // The first block after a restart is urgent. Later blocks are signed in groups.
        group = generation === this.#generation ? Math.min(BLOCKS_OF_TASK, 2 * group) : 1;
        generation = this.#generation;
        await this.#make(Math.min(group, this.#missing));
      }
    } catch (error) {
      this.#failed(error as Error);
    } finally {
      this.#filling = false;
    }
  }

  async #make(count: number): Promise<void> {
    const generation = this.#generation;
    const { signers, batch } = this.#plan;
    const loads = await this.#take(count);
    if (generation !== this.#generation) return void this.#loads.push(...loads);
    const outlines = loads.map((load, index) => this.#outline(load, index));
    const linked = await signers.links({ parent: this.#tip, blocks: outlines });
    if (generation !== this.#generation) return void this.#loads.push(...loads);
    const signedAtMs = performance.now();
    const blocks = linked.map((link, index): Block => {
      const { timestamp, producer, firstTransaction } = outlines[index]!;
      const ballots = this.#ballots(link.hash, timestamp);
      const signed = { transactions: batch, firstTransaction, signedAtMs, ballots };
      return { ...link, timestamp, producer, ...signed };
    });
    this.#queue.push(...blocks);
    this.#made += blocks.length;
    this.#tip = linked.at(-1)!.hash;
    this.#plan.onReady();
    if (this.#foretells) await this.#signAll(blocks, generation);
  }

  /** Signs a few blocks at a time, so that a restart does not have to wait for all blocks. */
  async #signAll(blocks: readonly Block[], generation: number): Promise<void> {
    const count = withSpares(this.#plan.needed);
    const waiting = blocks.values();
    const work = async () => {
      for (const { ballots } of waiting) {
        if (generation !== this.#generation) return;
        await this.signVotes(ballots, count);
      }
    };
    const few = Math.min(16, Math.max(2, Math.ceil(512 / count)));
    await Promise.all(Array.from({ length: few }, work));
  }

  #outline({ first, text }: TransactionText, index: number) {
    const { producers, blockMs, now } = this.#plan;
    // The timestamp is the expected sending time.
    const position = this.#queue.length + index;
    const timestamp = new Date(now() + Math.min(aheadMs, position * blockMs)).toISOString();
    const producer = producers[this.#turn % producers.length]!;
    this.#turn += 1;
    return { producer, timestamp, transactions: text, firstTransaction: first };
  }

  /** Voters rotate, so that all keys sign. */
  #ballots(hash: string, timestamp: string): Ballots {
    const { voters, needed } = this.#plan;
    const first = this.#voterTurn;
    this.#voterTurn = (first + needed) % voters;
    return new Ballots({ hash, timestamp, first, voters });
  }

  /** Returns transactions, reusing those from dropped blocks first. */
  async #take(count: number): Promise<TransactionText[]> {
    const { batch, senders, signers } = this.#plan;
    if (batch === 0) return Array.from({ length: count }, () => NO_TRANSACTIONS);
    const made: Promise<TransactionText>[] = [];
    for (let missing = count - this.#loads.length; missing > 0; missing -= 1) {
      const first = this.#nextTransaction;
      this.#nextTransaction += batch;
      const task = { first, count: batch, senders };
      made.push(signers.transactions(task).then((text) => ({ first, text })));
    }
    this.#loads.push(...(await Promise.all(made)));
    return this.#loads.splice(0, count);
  }

  #failed(error: Error): void {
    if (!this.#closed) this.#plan.onFailed(error);
  }
}

/* Approvals for one block, signed in sending order, and stored as 64 bytes until they are sent. */

export class Ballots {
  readonly #blockHash: string;
  readonly #timestamp: string;
  readonly #begin: string;
  readonly #first: number;
  readonly #voters: number;
  #signatures: Buffer = Buffer.alloc(0);
  #signed = 0;
  #planned = 0;
  signedAtMs = 0;

  constructor(block: { hash: string; timestamp: string; first: number; voters: number }) {
    this.#blockHash = block.hash;
    this.#timestamp = block.timestamp;
    this.#begin = voteBegin(block.hash, block.timestamp);
    this.#first = block.first;
    this.#voters = block.voters;
  }

  /** Number of votes signed or being signed. */
  get planned(): number {
    return this.#planned;
  }

  /** Signs up to `count` votes, and calls `onSigned` after each part. */
  async sign(signers: Signers, count: number, onSigned: () => void = () => {}): Promise<void> {
    const from = this.#planned;
    const upTo = Math.min(count, this.#voters);
    if (upTo <= from) return;
    this.#planned = upTo;
    const shares: Promise<Uint8Array>[] = [];
    for (let at = from; at < upTo; at += signShare) {
      shares.push(this.#share(signers, at, Math.min(at + signShare, upTo)));
    }
    // Shares are awaited one by one. This handler prevents an unhandled rejection of later ones.
    for (const share of shares) share.catch(() => {});
    this.#signatures = Buffer.concat([this.#signatures], upTo * signatureBytes);
    let at = from;
    for (const share of shares) {
      const made = await share;
      this.#signatures.set(made, at * signatureBytes);
      at += made.length / signatureBytes;
      this.#signed = at;
      this.signedAtMs = performance.now();
      onSigned();
    }
  }

  get signed(): number {
    return this.#signed;
  }

  voterAt(index: number): number {
    return (this.#first + index) % this.#voters;
  }

  /** Returns a vote's body; null if the vote is not signed yet. */
  bodyAt(index: number): string | null {
    if (index >= this.#signed) return null;
    const at = index * signatureBytes;
    return this.#begin + this.#signatures.toString('hex', at, at + signatureBytes) + voteEnd;
  }

  #share(signers: Signers, from: number, to: number): Promise<Uint8Array> {
    const ordinals = Array.from({ length: to - from }, (_, index) => this.voterAt(from + index));
    const inputs = [signedVote(this.#blockHash, this.#timestamp)];
    return signers.signatures({ ordinals, inputs });
  }
}
