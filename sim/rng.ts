/** Random draws, seeded: one named stream for each (agent, purpose), and pure hashes for links. */
import seedrandom from 'seedrandom';

/** A random stream. seedrandom's alea: 0.4 KB a stream where its default holds 3.3 KB. */
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

/** The numbers from 0 to below `count`, each once, in an order of the stream's (Fisher, Yates). */
export function shuffled(count: number, stream: Stream): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) swap(order, last, stream.int(last + 1));
  return order;
}

/**
 * Some of several, each at most once: the first steps of a shuffle, from the front. (From the end,
 * as `shuffled` goes, the same draws would give others.)
 */
export function sampled<T>(from: readonly T[], count: number, stream: Stream): T[] {
  const pool = [...from];
  const size = Math.min(count, pool.length);
  for (let index = 0; index < size; index += 1) {
    swap(pool, index, index + stream.int(pool.length - index));
  }
  return pool.slice(0, size);
}

function swap<T>(list: { [index: number]: T }, a: number, b: number): void {
  const moved = list[a]!;
  list[a] = list[b]!;
  list[b] = moved;
}

/** A 32-bit hash of a few integers (the finalizer of MurmurHash3): a draw without state. */
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
