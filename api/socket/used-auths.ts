/**
 * `auth` messages that were accepted, for as long as they are fresh: whoever captured one cannot
 * take its owner's place with it.
 */
import { limits as bounds } from '../../engine/internal.js';

/** Of one agent while they are fresh; so many more than it needs that only a flood has them. */
const MOST_OF_AGENT = 1_024;

export class UsedAuths {
  /** By key: the text that was signed, and when it is no longer fresh. */
  readonly #used = new Map<string, Map<string, number>>();

  has(publicKey: string, input: string): boolean {
    return this.#used.get(publicKey)?.has(input) ?? false;
  }

  /** Whether it was not used before, and there was room to remember it. */
  use(publicKey: string, input: string, signedAt: number): boolean {
    const known = this.#used.get(publicKey) ?? new Map<string, number>();
    if (known.has(input) || known.size >= MOST_OF_AGENT) return false;
    this.#used.set(publicKey, known.set(input, signedAt + bounds.skewMs));
    return true;
  }

  /** Forgets what would be refused for its age. */
  forget(now: number): void {
    for (const [publicKey, known] of this.#used) {
      for (const [input, until] of known) if (until < now) known.delete(input);
      if (known.size === 0) this.#used.delete(publicKey);
    }
  }
}
