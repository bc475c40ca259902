/** Time of a network of several nodes: by this one's clock, and by how far that is off. */
import { bounds } from './bounds.js';

/**
 * The network's time by this node: its wall clock, or what has passed since time last moved where
 * that is more. So a deadline comes also where all clocks are behind the end of the order.
 */
export class NodeTime {
  readonly #wall: () => number;
  #reached: number;
  #since = performance.now();

  constructor(wall: () => number, reached: number) {
    this.#wall = wall;
    this.#reached = reached;
  }

  /** Milliseconds since 1970. */
  now(): number {
    const passed = Math.trunc(performance.now() - this.#since);
    return Math.max(this.#wall(), this.#reached + passed);
  }

  /** A batch moved the network's time, or left it where it was. */
  came(time: number): void {
    if (time === this.#reached) return;
    this.#reached = time;
    this.#since = performance.now();
  }
}

/** How far this node's clock is from those of the others, by what they tell about once a second. */
export class ClockOffsets {
  readonly #wall: () => number;
  /** Of each other node: when it was heard, and our clock less its, which has the way in it. */
  readonly #heard = new Map<string, { at: number; ahead: number }[]>();
  /** What it comes to, as of when; null once more was heard. */
  #known: { at: number; ahead: number } | null = null;

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  heard(node: string, wall: number): void {
    const at = performance.now();
    const kept = (this.#heard.get(node) ?? []).filter((one) => at - one.at < bounds.clockWindowMs);
    kept.push({ at, ahead: this.#wall() - wall });
    this.#heard.set(node, kept);
    this.#known = null;
  }

  /**
   * By how many milliseconds this clock is ahead of the others', negative where it is behind. It is
   * the one in the middle that counts, its own among them; of two in the middle the one farther
   * off, since nobody knows which is right.
   */
  ahead(): number {
    const now = performance.now();
    // Each request asks.
    if (!this.#known || now - this.#known.at > bounds.cardMs) {
      this.#known = { at: now, ahead: this.#aheadAt(now) };
    }
    return this.#known.ahead;
  }

  #aheadAt(now: number): number {
    const all = [0];
    for (const samples of this.#heard.values()) {
      const recent = samples.filter(({ at }) => now - at < bounds.clockWindowMs);
      // The one that was quickest on its way tells most.
      if (recent.length > 0) all.push(Math.min(...recent.map(({ ahead }) => ahead)));
    }
    all.sort((a, b) => a - b);
    const low = all[Math.floor((all.length - 1) / 2)]!;
    const high = all[Math.ceil((all.length - 1) / 2)]!;
    return Math.abs(low) > Math.abs(high) ? low : high;
  }
}
