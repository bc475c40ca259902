/**
 * Proposals that come early: on a block that is still in voting. Its author may send the next block
 * before it knows how this one ends; the signatures in it are verified meanwhile, and it is looked
 * at again when the block has left voting.
 */
import type { ServedNetwork } from '../../engine/internal.js';
import { serverBounds } from '../contract/limit-table.js';

interface Waiting {
  producer: string;
  parent: string;
  go(): void;
}

export class EarlyProposals {
  readonly #network: Pick<ServedNetwork, 'votesUntilClose' | 'onEvents'>;
  readonly #waiting = new Set<Waiting>();
  #unlisten: (() => void) | null = null;
  #closed = false;

  constructor(network: Pick<ServedNetwork, 'votesUntilClose' | 'onEvents'>) {
    this.#network = network;
  }

  /**
   * Resolves when the block `parent` (hex) has left voting, after a while, or at a stop; null where
   * it is not in voting, or no more proposals may wait, of this producer (a public key) or in all.
   */
  until(parent: string, producer: string): Promise<void> | null {
    if (this.#closed || !this.#isOpen(parent)) return null;
    const { most, most_of_one, ms } = serverBounds.earlyProposals;
    if (this.#waiting.size >= most) return null;
    const own = [...this.#waiting].filter((one) => one.producer === producer);
    if (own.length >= most_of_one) return null;
    this.#unlisten ??= this.#network.onEvents(() => this.#look());
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiting.go(), ms);
      const waiting: Waiting = {
        producer,
        parent,
        go: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** Nobody waits any longer: what is asked of a server that stops is answered. */
  close(): void {
    this.#closed = true;
    this.#unlisten?.();
    for (const waiting of this.#waiting) waiting.go();
  }

  #isOpen = (block: string) => this.#network.votesUntilClose(block) > 0;

  /** At each commit: a block that left voting did so in the log. */
  #look(): void {
    for (const waiting of this.#waiting) if (!this.#isOpen(waiting.parent)) waiting.go();
  }
}
