/**
 * Lets go of batches that all nodes have stored, now and then, and where there is no room for more:
 * etcd keeps what it is not told to drop. One node does it, and a node that is away for long keeps
 * what it has still to take.
 */

import { type Order, OrderError } from '../order/order.js';
import { bounds } from './bounds.js';

interface TrimmerOptions {
  order: Pick<Order, 'cards' | 'trim'>;
  /** Whether it is for this node to do it. */
  isMine(): boolean;
  warn(message: string): void;
}

export class Trimmer {
  readonly #options: TrimmerOptions;
  #batches = 0;
  #bytes = 0;
  #trimming = false;

  constructor(options: TrimmerOptions) {
    this.#options = options;
  }

  /** A batch of so many bytes was applied here. */
  came(bytes: number): void {
    this.#batches += 1;
    this.#bytes += bytes;
    const enough = this.#batches >= bounds.trimBatches || this.#bytes >= bounds.trimBytes;
    if (enough) this.trim();
  }

  /** Now, unless it does so already. */
  trim(): void {
    if (!this.#trimming) void this.#trim();
  }

  async #trim(): Promise<void> {
    this.#trimming = true;
    this.#batches = 0;
    this.#bytes = 0;
    const { order, isMine, warn } = this.#options;
    try {
      if (!isMine()) return;
      const positions = (await order.cards()).map(({ position }) => position);
      positions.sort((a, b) => a.version - b.version);
      const [least] = positions;
      if (least && least.version > 0) await order.trim(least);
    } catch (error) {
      if (!(error instanceof OrderError)) throw error;
      // So far it was done before.
      if (error.code !== 'TRIMMED') warn(`the order is not trimmed now: ${error.message}`);
    } finally {
      this.#trimming = false;
    }
  }
}
