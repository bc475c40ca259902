/** Chance, seeded: one named stream for each (agent, purpose), and pure hashes for links. */
import seedrandom from 'seedrandom';

/** A stream of chance. seedrandom's alea: 0.4 KB a stream where its default holds 3.3 KB. */
export interface Stream {
  /** An integer from 0 to `below` - 1. */
  int(below: number): number;
  /** True in `permille` of 1,000 cases. */
  chance(permille: number): boolean;
  /** One of several. */
  pick<T>(from: readonly T[]): T;
}

/** A class, so that a hundred thousand agents share its functions. */
class AleaStream implements Stream {
  readonly #next: () => number;

  constructor(name: string) {
    this.#next = seedrandom.alea(name);
  }

  int(below: number): number {
    return Math.floor(this.#next() * below);
  }

  chance(permille: number): boolean {
    return this.int(1000) < permille;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!;
  }
}

/** Streams by name, made at first use: what one purpose draws never shifts another's numbers. */
export class Streams {
  readonly #seed: string;
  /** By purpose, then by agent: asked for at each draw, so no name is put together for it. */
  readonly #streams = new Map<string, Map<number | 'world', Stream>>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  of(agent: number | 'world', purpose: string): Stream {
    let streams = this.#streams.get(purpose);
    if (!streams) {
      streams = new Map();
      this.#streams.set(purpose, streams);
    }
    const known = streams.get(agent);
    if (known) return known;
    const stream = new AleaStream(`folkmoot/${this.#seed}/${agent}/${purpose}`);
    streams.set(agent, stream);
    return stream;
  }
}

/** A 32-bit hash of a few integers (the finalizer of MurmurHash3): chance without state. */
export function mix(...values: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const value of values) {
    hash ^= value | 0;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
