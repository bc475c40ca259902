/**
 * What this node asks of the order: requests, and barriers. One batch is under way at a time; what
 * comes meanwhile is the next one. A batch is appended until it is known to stand, and who asked
 * is answered when it comes back out of the order and was applied here. All who ask for a barrier
 * have one, which goes along with requests, or in an empty batch now and then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verified } from '../../engine/admit/verify.js';
import type { Applied } from '../../engine/node/open-store.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import {
  type Batch,
  countBytes,
  encodeBatch,
  type Input,
  type Order,
  OrderError,
} from '../order/order.js';
import { bounds } from './bounds.js';

/** What became of it: what applying it gave, null of a barrier; or why nobody knows. */
export type AppendResult = { applied: Applied | null } | { refusal: Refusal };

/** A request, and the address that it came from as limits count it. */
export interface AppendRequest {
  verified: Verified;
  spender: string;
}

interface Asked {
  /** Null asks for a barrier. */
  wanted: AppendRequest | null;
  bytes: number;
  at: number;
  /** Nobody waits for it any more. */
  givenUp: boolean;
  settle(settled: AppendResult): void;
}

/** A batch that was made, until it is applied here. */
interface Sent {
  asked: readonly Asked[];
  batch: Batch;
  at: number;
}

interface AppenderOptions {
  order: Pick<Order, 'append'>;
  node: string;
  incarnation: string;
  /** Time and witness of a batch that is made now. */
  now(): Pick<Batch, 'stamp' | 'witness'>;
  /** Without a word of the order for so many ms. */
  cutOffMs(): number;
  /** The order has answered. */
  heard(): void;
  /** The order has no room from now on. */
  full(): void;
  /** Nothing can be appended any more. */
  failed(error: Error): void;
}

export class Appender {
  readonly #options: AppenderOptions;
  #waiting: Asked[] = [];
  #waitingBytes = 0;
  /** For all who ask for one before the next batch is made. */
  #barrier: { asked: Asked; settled: Promise<AppendResult> } | null = null;
  /** When a batch without requests was made last. */
  #emptyAt = Number.NEGATIVE_INFINITY;
  #emptyTimer: NodeJS.Timeout | undefined;
  readonly #sent = new Map<number, Sent>();
  #k = 0;
  #running = false;
  #closed = false;
  /** Whether the order says that it has no room. */
  #full = false;
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: AppenderOptions) {
    this.#options = options;
    this.#sweeping = setInterval(() => this.#sweep(), bounds.sweepMs);
  }

  /** Requests that wait for their batch, or for it to come. */
  get pending(): number {
    let sent = 0;
    for (const { asked } of this.#sent.values()) sent += asked.length;
    return this.#waiting.length + (this.#barrier ? 1 : 0) + sent;
  }

  /** Why nothing is taken now, or null. */
  unable(): Refusal | null {
    if (this.#closed) return refuse('NETWORK_CLOSED');
    const cutOffMs = this.#options.cutOffMs();
    if (cutOffMs > 0) return noQuorum(cutOffMs);
    if (this.#full) return refuse('ORDER_FULL');
    const { waitingInputs, waitingBytes } = bounds;
    const full = this.#waiting.length >= waitingInputs || this.#waitingBytes >= waitingBytes;
    return full ? refuse('ORDER_QUEUE_FULL', { pending: this.pending }) : null;
  }

  /** Asks for a request's place in the order, or, of null, for a barrier. */
  ask(wanted: AppendRequest | null): Promise<AppendResult> {
    const refusal = this.unable();
    if (refusal) return Promise.resolve({ refusal });
    if (!wanted && this.#barrier) return this.#barrier.settled;
    let settle: (settled: AppendResult) => void = () => {};
    const settled = new Promise<AppendResult>((resolve) => {
      settle = resolve;
    });
    const bytes = wanted ? countBytes(wanted.verified) : 0;
    const asked = { wanted, bytes, at: performance.now(), givenUp: false, settle };
    if (wanted) this.#waiting.push(asked);
    else this.#barrier = { asked, settled };
    this.#waitingBytes += bytes;
    // After this turn: what comes in it goes together.
    if (!this.#running) queueMicrotask(() => void this.#run());
    return settled;
  }

  /**
   * The requests of an own batch, as they were verified here; undefined of another one, and of one
   * that only says that it is this node's.
   */
  requestsOf(batch: Batch): Verified[] | undefined {
    const sent = this.#sent.get(batch.k);
    if (!sent || batch.incarnation !== this.#options.incarnation) return undefined;
    const isSame =
      sent.batch.inputs === batch.inputs || encodeBatch(sent.batch).equals(encodeBatch(batch));
    return isSame ? sent.asked.flatMap(({ wanted }) => wanted?.verified ?? []) : undefined;
  }

  /**
   * An own batch came out of the order, and gave this, request by request.
   * @returns of each request whether somebody waited for it.
   */
  came(k: number, applied: readonly Applied[]): boolean[] {
    const asked = this.#sent.get(k)?.asked ?? [];
    this.#sent.delete(k);
    const requests = asked.filter(({ wanted }) => wanted !== null);
    for (const [index, { settle }] of requests.entries()) settle({ applied: applied[index]! });
    for (const { wanted, settle } of asked) if (!wanted) settle({ applied: null });
    return requests.map(({ givenUp }) => !givenUp);
  }

  /** Whoever waits is told that nobody knows, or that it was not done. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#sweeping);
    clearTimeout(this.#emptyTimer);
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
    clearTimeout(this.#emptyTimer);
    if (!this.#barrier || this.#closed) return;
    this.#emptyTimer = setTimeout(() => void this.#run(), Math.ceil(this.#due()));
  }

  /** In how many ms the next batch is to be made. */
  #due(): number {
    if (this.#waiting.length > 0) return 0;
    if (!this.#barrier) return Number.POSITIVE_INFINITY;
    return this.#emptyAt + bounds.emptyMs - performance.now();
  }

  #next(): Batch {
    const asked: Asked[] = [];
    let bytes = 0;
    for (const one of this.#waiting) {
      const beyond = asked.length > 0 && bytes + one.bytes > bounds.batchBytes;
      if (beyond || asked.length === bounds.batchInputs) break;
      asked.push(one);
      bytes += one.bytes;
    }
    this.#waiting.splice(0, asked.length);
    this.#waitingBytes -= bytes;
    if (asked.length === 0) this.#emptyAt = performance.now();
    if (this.#barrier) asked.push(this.#barrier.asked);
    this.#barrier = null;
    this.#k += 1;
    const inputs = asked.flatMap(({ wanted }) => (wanted ? [inputOf(wanted)] : []));
    const { node, incarnation, now } = this.#options;
    const batch = { node, incarnation, k: this.#k, ...now(), inputs };
    this.#sent.set(this.#k, { asked, batch, at: performance.now() });
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
      await sleep(bounds.retryMs);
    }
  }

  /** Nobody waits for ever: what was not sent is not done, what was sent may be. */
  #sweep(): void {
    const oldest = performance.now() - bounds.uncertainMs;
    for (const { asked, at } of this.#sent.values())
      if (at < oldest) this.#giveUp(asked, uncertain());
    const cutOffMs = this.#options.cutOffMs();
    const given = this.#taken(({ at }) => cutOffMs > 0 || at < oldest);
    if (given.length === 0) return;
    const late = refuse('ORDER_TIMEOUT');
    this.#giveUp(given, cutOffMs > 0 ? noQuorum(cutOffMs) : late);
  }

  /** Takes out of what waits for a batch. */
  #taken(which: (asked: Asked) => boolean): Asked[] {
    const taken = this.#waiting.filter(which);
    this.#waiting = this.#waiting.filter((one) => !which(one));
    for (const { bytes } of taken) this.#waitingBytes -= bytes;
    if (!this.#barrier || !which(this.#barrier.asked)) return taken;
    const { asked } = this.#barrier;
    this.#barrier = null;
    return [...taken, asked];
  }

  #giveUp(asked: readonly Asked[], refusal: Refusal): void {
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
