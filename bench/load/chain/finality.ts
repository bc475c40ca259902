/**
 * Which blocks of a run are final, and since when. What counts was seen in the event stream: an
 * outcome, the head's hash, or, where a server shows neither, that its height reached that of a
 * block for which as many approvals were accepted as it needs.
 */

export interface Undecided {
  hash: string;
  height: number;
  transactions: number;
  intendedMs: number;
  /** As many approvals were accepted as it needs. */
  approved: boolean;
}

export class Finality {
  readonly #waiting = new Map<string, Undecided>();
  readonly #finalized: (block: Undecided, atMs: number) => void;
  /** Of the heights that the stream reported: the highest, and when. */
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

  /** All approvals that it needs were accepted; the stream may have reported it before. */
  approved(hash: string): void {
    const block = this.#waiting.get(hash);
    if (!block) return;
    block.approved = true;
    if (this.#reached.height >= block.height) this.#final(block, this.#reached.atMs);
  }

  /** This block is the head, or was. */
  final(hash: string, atMs: number): void {
    const block = this.#waiting.get(hash);
    if (block) this.#final(block, atMs);
  }

  /** It will never be final. */
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
