/**
 * Appends this node's requests and barriers to the order. One batch is in flight at a time;
 * requests that arrive meanwhile go into the next batch. A batch is retried until its append is
 * confirmed. A caller is answered once its batch has come back from the order and is applied here.
 * All callers waiting for a barrier share one barrier. The barrier rides on a batch of requests, or
 * on an empty batch at a limited rate.
 */

import type { Verified } from '../../engine/admit/verify.js';
import type { Applied } from '../../engine/node/open-store.js';
import { assertInvariant } from '../../engine/protocol/invariants.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type HostClock, sleep } from '../../engine/store/host-clock.js';
import {
  type Batch,
  countBytes,
  encodeBatch,
  type Input,
  type Order,
  OrderError,
} from '../order/order.js';
import { bounds } from './bounds.js';

/**
 * Result of applying a request (null for a barrier), or a refusal. An unknown result is a refusal
 * too.
 */
export type AppendResult = { applied: Applied | null } | { refusal: Refusal };

/** A request, and the client address to which rate limits are charged. */
export interface AppendRequest {
  verified: Verified;
  spender: string;
}

interface PendingAppend {
  /** Null for a barrier. */
  wanted: AppendRequest | null;
  bytes: number;
  at: number;
  /** True once the caller has been refused and no longer waits. */
  givenUp: boolean;
  settle(settled: AppendResult): void;
}

/** A batch from its creation until it is applied here. */
interface Sent {
  asked: readonly PendingAppend[];
  batch: Batch;
  at: number;
}

interface AppenderOptions {
  host: HostClock;
  order: Pick<Order, 'append'>;
  node: string;
  incarnation: string;
  now(): Pick<Batch, 'stamp' | 'witness'>;
  /** Returns the milliseconds without contact with the order; 0 in normal operation. */
  cutOffMs(): number;
  heard(): void;
  full(): void;
  failed(error: Error): void;
}

export class Appender {
  readonly #options: AppenderOptions;
  #waiting: PendingAppend[] = [];
  #waitingBytes = 0;
  /** Barrier shared by all callers that ask before the next batch is built. */
  #barrier: { asked: PendingAppend; settled: Promise<AppendResult> } | null = null;
  /** Time of the last batch without requests. */
  #emptyAt = Number.NEGATIVE_INFINITY;
  #cancelEmpty: () => void = () => {};
  readonly #sent = new Map<number, Sent>();
  #k = 0;
  #running = false;
  #closed = false;
  #full = false;
  readonly #stopSweeping: () => void;

  constructor(options: AppenderOptions) {
    this.#options = options;
    this.#stopSweeping = options.host.every(bounds.sweepMs, () => this.#sweep());
  }

  /** Number of requests that wait for a batch or whose batch has not come back. */
  get pending(): number {
    let sent = 0;
    for (const { asked } of this.#sent.values()) sent += asked.length;
    return this.#waiting.length + (this.#barrier ? 1 : 0) + sent;
  }

  /** Returns the refusal that any request would get now, or null. */
  unable(): Refusal | null {
    if (this.#closed) return refuse('NETWORK_CLOSED');
    const cutOffMs = this.#options.cutOffMs();
    if (cutOffMs > 0) return noQuorum(cutOffMs);
    if (this.#full) return refuse('ORDER_FULL');
    const { waitingInputs, waitingBytes } = bounds;
    const full = this.#waiting.length >= waitingInputs || this.#waitingBytes >= waitingBytes;
    return full ? refuse('ORDER_QUEUE_FULL', { pending: this.pending }) : null;
  }

  /** Appends a request, or a barrier if `wanted` is null. */
  ask(wanted: AppendRequest | null): Promise<AppendResult> {
    const refusal = this.unable();
    if (refusal) return Promise.resolve({ refusal });
    if (!wanted && this.#barrier) return this.#barrier.settled;
    let settle: (settled: AppendResult) => void = () => {};
    const settled = new Promise<AppendResult>((resolve) => {
      settle = resolve;
    });
    const bytes = wanted ? countBytes(wanted.verified) : 0;
    const asked = { wanted, bytes, at: this.#options.host.monotonic(), givenUp: false, settle };
    if (wanted) this.#waiting.push(asked);
    else this.#barrier = { asked, settled };
    this.#waitingBytes += bytes;
    // Deferred, so that requests from one event-loop turn share a batch.
    if (!this.#running) queueMicrotask(() => void this.#run());
    return settled;
  }

  /**
   * Returns the verified requests in a batch from this process. Returns undefined for other
   * batches, and for forged batches that claim to come from this process.
   */
  requestsOf(batch: Batch): Verified[] | undefined {
    const sent = this.#sent.get(batch.k);
    if (!sent || batch.incarnation !== this.#options.incarnation) return undefined;
    const isSame =
      sent.batch.inputs === batch.inputs || encodeBatch(sent.batch).equals(encodeBatch(batch));
    return isSame ? sent.asked.flatMap(({ wanted }) => wanted?.verified ?? []) : undefined;
  }

  /**
   * Settles the requests in one of this node's batches that came back from the order.
   * @returns per request, true if its caller was still waiting.
   */
  came(k: number, applied: readonly Applied[]): boolean[] {
    const asked = this.#sent.get(k)?.asked ?? [];
    this.#sent.delete(k);
    const requests = asked.filter(({ wanted }) => wanted !== null);
    assertInvariant(k <= this.#k, 'ORDER_OWN', k, this.#k);
    const { length } = requests;
    assertInvariant(applied.length === length, 'ORDER_ANSWERS', applied.length, length);
    for (const [index, { settle }] of requests.entries()) settle({ applied: applied[index]! });
    for (const { wanted, settle } of asked) if (!wanted) settle({ applied: null });
    return requests.map(({ givenUp }) => !givenUp);
  }

  /** Refuses the waiting requests. Requests in flight get UNCERTAIN. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopSweeping();
    this.#cancelEmpty();
    this.#giveUp(
      this.#taken(() => true),
      refuse('NETWORK_CLOSED'),
    );
    for (const { asked } of this.#sent.values()) this.#giveUp(asked, uncertain());
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#due() <= 0 && !this.#closed) await this.#append(this.#next());
    this.#running = false;
    this.#cancelEmpty();
    if (!this.#barrier || this.#closed) return;
    const run = () => void this.#run();
    this.#cancelEmpty = this.#options.host.after(Math.ceil(this.#due()), run);
  }

  #due(): number {
    if (this.#waiting.length > 0) return 0;
    if (!this.#barrier) return Number.POSITIVE_INFINITY;
    return this.#emptyAt + bounds.emptyMs - this.#options.host.monotonic();
  }

  #next(): Batch {
    const asked: PendingAppend[] = [];
    let bytes = 0;
    for (const one of this.#waiting) {
      const beyond = asked.length > 0 && bytes + one.bytes > bounds.batchBytes;
      if (beyond || asked.length === bounds.batchInputs) break;
      asked.push(one);
      bytes += one.bytes;
    }
    this.#waiting.splice(0, asked.length);
    this.#waitingBytes -= bytes;
    assertInvariant(this.#waitingBytes >= 0, 'ORDER_WAITING', this.#waitingBytes, 0);
    if (asked.length === 0) this.#emptyAt = this.#options.host.monotonic();
    if (this.#barrier) asked.push(this.#barrier.asked);
    this.#barrier = null;
    this.#k += 1;
    const inputs = asked.flatMap(({ wanted }) => (wanted ? [inputOf(wanted)] : []));
    const { node, incarnation, now } = this.#options;
    const batch = { node, incarnation, k: this.#k, ...now(), inputs };
    this.#sent.set(this.#k, { asked, batch, at: this.#options.host.monotonic() });
    return batch;
  }

  async #append(batch: Batch): Promise<void> {
    const { order, heard, full, failed } = this.#options;
    while (!this.#closed) {
      try {
        await order.append(batch);
        this.#full = false;
        return heard();
      } catch (error) {
        const { code } = error as Partial<OrderError>;
        const passing = error instanceof OrderError && (code === 'UNAVAILABLE' || code === 'FULL');
        if (!passing) {
          this.close();
          return failed(error as Error);
        }
        const isFull = code === 'FULL';
        if (isFull && !this.#full) full();
        this.#full = isFull;
      }
      await sleep(this.#options.host, bounds.retryMs);
    }
  }

  /**
   * Limits the wait. A request that was not sent is refused; a request in flight may have been
   * executed.
   */
  #sweep(): void {
    const oldest = this.#options.host.monotonic() - bounds.uncertainMs;
    for (const { asked, at } of this.#sent.values())
      if (at < oldest) this.#giveUp(asked, uncertain());
    const cutOffMs = this.#options.cutOffMs();
    const given = this.#taken(({ at }) => cutOffMs > 0 || at < oldest);
    if (given.length === 0) return;
    const late = refuse('ORDER_TIMEOUT');
    this.#giveUp(given, cutOffMs > 0 ? noQuorum(cutOffMs) : late);
  }

  #taken(which: (asked: PendingAppend) => boolean): PendingAppend[] {
    const taken = this.#waiting.filter(which);
    this.#waiting = this.#waiting.filter((one) => !which(one));
    for (const { bytes } of taken) this.#waitingBytes -= bytes;
    if (!this.#barrier || !which(this.#barrier.asked)) return taken;
    const { asked } = this.#barrier;
    this.#barrier = null;
    return [...taken, asked];
  }

  #giveUp(asked: readonly PendingAppend[], refusal: Refusal): void {
    for (const one of asked) {
      one.givenUp = true;
      one.settle({ refusal });
    }
  }
}

function inputOf({ verified: { request, command }, spender }: AppendRequest): Input {
  const failed = command.kind === 'propose' ? command.failed_transaction : undefined;
  return { request, spender, ...(failed === undefined ? {} : { failedTransaction: failed }) };
}

function noQuorum(cutOffMs: number): Refusal {
  return refuse('NODE_CUT_OFF', { elapsed: Math.trunc(cutOffMs) });
}

const uncertain = (): Refusal => refuse('OUTCOME_UNCERTAIN');
