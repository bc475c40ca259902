/**
 * Takes batches out of the order, each once and in order, whatever comes: one that is repeated is
 * left, and at a gap it begins anew from where it is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Order, OrderError, type OrderedBatch, type Position } from '../order/order.js';
import { bounds } from './bounds.js';

interface FollowerOptions {
  order: Pick<Order, 'follow' | 'head'>;
  /** What was applied last. */
  position(): Position;
  /**
   * Readies what comes next; what it gives then applies it, in one turn, and is called only if the
   * batch is still the next one.
   */
  prepare(batch: OrderedBatch): Promise<() => void>;
  /** Why it is not heard of now; it tries again. */
  warn(message: string): void;
  /** It cannot go on. */
  failed(error: Error): void;
}

/** Batches are missing between what was applied and what came. */
class Gap extends Error {}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #closing = new AbortController();
  #current = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Asks anew for what comes next: by another way, where there is one. */
  restart(): void {
    this.#current.abort();
  }

  close(): void {
    this.#closing.abort();
    this.#current.abort();
  }

  async #run(): Promise<void> {
    const { order, position, warn, failed } = this.#options;
    while (!this.#closing.signal.aborted) {
      this.#current = new AbortController();
      const { signal } = this.#current;
      try {
        await order.follow(position(), (batch) => this.#take(batch, signal), signal);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        const passing = error instanceof OrderError && error.code === 'UNAVAILABLE';
        if (!passing && !(error instanceof Gap)) return failed(asTold(error as Error));
        if (passing) warn(`the order is not heard of: ${error.message}`);
      }
      if (!this.#closing.signal.aborted) await sleep(bounds.retryMs);
    }
  }

  async #take(batch: OrderedBatch, signal: AbortSignal): Promise<void> {
    if (!this.#isNext(batch)) return;
    const apply = await this.#options.prepare(batch);
    // Meanwhile another may have come, or the same once more.
    if (!signal.aborted && this.#isNext(batch)) apply();
  }

  /** False of what was applied already. */
  #isNext({ position }: OrderedBatch): boolean {
    const { version } = this.#options.position();
    if (position.version > version + 1) {
      throw new Gap(`batch ${position.version} came after ${version}`);
    }
    return position.version === version + 1;
  }
}

/** What to do about a node that was away too long is known here only. */
function asTold(error: Error): Error {
  if (!(error instanceof OrderError) || error.code !== 'TRIMMED') return error;
  const peers = 'start it with --peer-listen, as others are, and it gets a snapshot of one';
  const advice = `${peers}; or stop another node, copy its folder, and begin this one on the copy`;
  return new OrderError('TRIMMED', `${error.message}; this node has not had it all: ${advice}`);
}
