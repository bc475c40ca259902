/** Looks where a server's chain is when a block got nowhere: soon, then ever more seldom. */
import type { Asker } from '../server/ask.js';
import { lookAtHead, validatorKeys } from '../server/state.js';

/** Between two looks at a head that does not move. */
const LOOK_MS = { first: 50, most: 1_000 };

interface Head {
  hash: string;
  height: number;
}

/** What a look found. */
export interface Found {
  /** The head when the look was asked for. */
  from: Head;
  /** The hash is null where the server does not show it. */
  head: { hash: string | null; height: number };
  validators: number;
}

export class HeadLooks {
  readonly #asker: Asker;
  readonly #done: (found: Found | null) => void;
  #timer: NodeJS.Timeout | null = null;
  #count = 0;

  /** `done` is called after each look, with null where the server did not answer. */
  constructor(asker: Asker, done: (found: Found | null) => void) {
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
      const head = await lookAtHead(this.#asker);
      const validators = (await validatorKeys(this.#asker)).length;
      found = { from, head, validators };
    } catch {
      // The server does not answer; the run's own requests show why. It is asked again.
    }
    this.#timer = null;
    this.#done(found);
  }
}
