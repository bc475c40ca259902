/** Memes: who heard them, who referred to them, and whose vote they turned. */
import type { Decision } from '../../../engine/internal.js';
import type { Cause } from '../../world/observer.js';
import { share } from '../statistics.js';

export class Memes {
  #heard = 0;
  #references = 0;
  /** By group: votes that counted of which it is known what they were without memes. */
  readonly #known: number[];
  readonly #turned: number[];

  constructor(groups: number) {
    this.#known = Array.from({ length: groups }, () => 0);
    this.#turned = Array.from({ length: groups }, () => 0);
  }

  get references(): number {
    return this.#references;
  }

  /** A vote that counted, with what it refers to and what its agent noted when it cast it. */
  add(group: number, decision: Decision, { memes, note }: Cause): void {
    this.#references += memes.length;
    this.#heard += note?.receivedMemes.length ?? 0;
    if (!note || note.withoutMemes === null) return;
    this.#known[group]! += 1;
    if (note.withoutMemes !== decision) this.#turned[group]! += 1;
  }

  meanReach(memes: number): number | null {
    return share(this.#heard, memes);
  }

  get influence(): number | null {
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    return share(sum(this.#turned), sum(this.#known));
  }

  influenceOn(group: number): number | null {
    return share(this.#turned[group]!, this.#known[group]!);
  }
}
