/** Seeded streams per (agent, purpose) and (agent, purpose, subject), and hashes for links. */
import alea from 'seedrandom/lib/alea.js';
import { normalQuantile } from './numbers.js';

/*
 * Blackman and Vigna's generator xoshiro128** ("Scrambled linear pseudorandom number generators",
 * 2021), with 128 bits of state and period 2^128 - 1. Its state is four integers in one object. A
 * hundred thousand agents with several streams each fit in memory, and a draw touches one cache
 * line.
 */

/** Four 32-bit integers, not all 0. */
export type Xoshiro128State = readonly [number, number, number, number];

export class Xoshiro128 {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(a: number, b: number, c: number, d: number) {
    this.#a = a | 0;
    this.#b = b | 0;
    this.#c = c | 0;
    this.#d = d | 0;
  }

  /** Starts again from a state. */
  reset(a: number, b: number, c: number, d: number): void {
    this.#a = a | 0;
    this.#b = b | 0;
    this.#c = c | 0;
    this.#d = d | 0;
  }

  /** Returns the next 32 bits, as an integer from 0 to 2^32 - 1. */
  next(): number {
    const b = this.#b;
    const fifth = Math.imul(b, 5);
    const result = Math.imul((fifth << 7) | (fifth >>> 25), 9);
    const c = this.#c ^ this.#a;
    const d = this.#d ^ b;
    this.#b = b ^ c;
    this.#a ^= d;
    this.#c = c ^ (b << 9);
    this.#d = (d << 11) | (d >>> 21);
    return result >>> 0;
  }
}

/**
 * Source of random draws. Draws under one name never affect draws under a different name, and a
 * seed gives identical draws on every machine.
 */
export interface Stream {
  /**
   * Draws an integer from 0 to `below` - 1.
   *
   * @throws {RangeError} unless `below` is an integer from 1 to 2^53.
   */
  int(below: number): number;
  /**
   * Returns true with the given probability, from 0 (never) to 1 (always), with an error of at most
   * 2^-33.
   *
   * @throws {RangeError} unless the probability is from 0 to 1.
   */
  chance(probability: number): boolean;
  /** Picks an item with equal probability. @throws {RangeError} if the list is empty. */
  pick<T>(from: readonly T[]): T;
  /** Draws a number from 0 (inclusive) to 1 (exclusive), a multiple of 2^-53. */
  real(): number;
  /** Draws a normally distributed number. Default mean 0 and standard deviation 1. */
  normal(mean?: number, deviation?: number): number;
  /**
   * Picks an item by weight, or with equal probability without weights.
   *
   * @throws {RangeError} unless all weights are non-negative, one per item, with at least one
   * positive.
   */
  choice<T>(from: readonly T[], weights?: readonly number[]): T;
  /** Returns a shuffled copy. */
  shuffle<T>(from: readonly T[]): T[];
}

/**
 * Subject of a draw. A block is named by its producer and the producer's number of earlier
 * proposals. An event in an agent's life is named by the agent and a number.
 */
export interface Subject {
  /** Agent's ordinal, or a number below -1 for an agent outside the scenario. */
  readonly place: number;
  readonly number: number;
}

const TWO_21 = 2 ** 21;
const TWO_32 = 2 ** 32;
const TWO_52 = 2 ** 52;
const TWO_53 = 2 ** 53;

/**
 * Derives the state from a name with seedrandom's alea. Draws come from xoshiro128** because alea
 * spreads its state over several objects, and alea's draws took a twelfth of the CPU time per
 * simulated vote.
 */
function stateOf(name: string): Xoshiro128State {
  const seeded = alea(name);
  return [seeded.int32(), seeded.int32(), seeded.int32(), seeded.int32()];
}

/**
 * State from which the streams of one purpose are derived. Keeps the state of the last subject,
 * because all agents draw about one block before they draw about the next.
 */
class Origin {
  readonly #state: Xoshiro128State;
  /** Stream of the last subject, or null if its user may keep it. */
  readonly #shared: SeededStream | null;
  #place = Number.NaN;
  #number = Number.NaN;
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;

  constructor(name: string, isShared: boolean) {
    this.#state = stateOf(name);
    this.#shared = isShared ? new SeededStream(0, 0, 0, 0) : null;
  }

  stream(agent: number, { place, number }: Subject, round: number): SeededStream {
    if (place !== this.#place || number !== this.#number) this.#choose(place, number);
    const stream = this.#shared ?? new SeededStream(0, 0, 0, 0);
    stream.reset(
      absorb(absorb(this.#a, agent), round),
      absorb(absorb(this.#b, agent), round),
      absorb(absorb(this.#c, agent), round),
      absorb(absorb(this.#d, agent), round),
    );
    return stream;
  }

  #choose(place: number, number: number): void {
    const [a, b, c, d] = this.#state;
    this.#place = place;
    this.#number = number;
    this.#a = absorb(absorb(a, place), number);
    this.#b = absorb(absorb(b, place), number);
    this.#c = absorb(absorb(c, place), number);
    this.#d = absorb(absorb(d, place), number);
  }
}

class SeededStream extends Xoshiro128 implements Stream {
  int(below: number): number {
    if (!(below >= 1 && below <= TWO_53) || !Number.isInteger(below)) {
      throw new RangeError(`int(${below}): expected an integer from 1 to 2^53`);
    }
    return Math.floor((below <= TWO_32 ? this.next() / TWO_32 : this.real()) * below);
  }

  chance(probability: number): boolean {
    if (!(probability >= 0 && probability <= 1)) {
      throw new RangeError(`chance(${probability}): expected a probability from 0 to 1`);
    }
    return this.next() < Math.round(probability * TWO_32);
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError('pick([]): the list is empty');
    return from[this.int(from.length)]!;
  }

  real(): number {
    return this.#bits(TWO_21) / TWO_53;
  }

  normal(mean = 0, deviation = 1): number {
    // Use the midpoint of one of 2^52 equal parts, which is neither 0 nor 1.
    return mean + deviation * normalQuantile((this.#bits(TWO_21 / 2) + 0.5) / TWO_52);
  }

  choice<T>(from: readonly T[], weights?: readonly number[]): T {
    if (weights === undefined) return this.pick(from);
    const sum = sumOf(from, weights);
    let left = this.real() * sum;
    let last = 0;
    for (const [index, weight] of weights.entries()) {
      if (weight === 0) continue;
      last = index;
      left -= weight;
      if (left < 0) break;
    }
    return from[last]!;
  }

  shuffle<T>(from: readonly T[]): T[] {
    return Array.from(shuffle(from.length, this), (index) => from[index]!);
  }

  /** Combines 32 bits with the top bits from a second draw. */
  #bits(more: number): number {
    const high = this.next();
    return high * more + Math.floor((this.next() / TWO_32) * more);
  }
}

function sumOf(from: readonly unknown[], weights: readonly number[]): number {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const each = weights.every((weight) => weight >= 0);
  if (each && sum > 0 && sum < Number.POSITIVE_INFINITY && weights.length === from.length) {
    return sum;
  }
  const expected = `${from.length} weights of 0 or more, one of them above 0`;
  throw new RangeError(`choice with weights ${weights.join(', ')}: expected ${expected}`);
}

/** Streams by name, created on first use. Draws for one purpose do not affect draws for another. */
export class Streams {
  /** Streams by purpose, then by agent, which avoids building a name for each draw. */
  readonly #streams = new Map<string, Stream[]>();
  /** Origins of the subjects' streams, by purpose. */
  readonly #origins = new Map<string, Origin>();

  constructor(private readonly seed: string) {}

  of(agent: number | 'world', purpose: string): Stream {
    let streams = this.#streams.get(purpose);
    if (!streams) {
      streams = [];
      this.#streams.set(purpose, streams);
    }
    const place = agent === 'world' ? 0 : agent + 1;
    const known = streams[place];
    if (known) return known;
    const stream = this.once(agent, purpose);
    // Most agents get a stream eventually. A list with holes would be slow.
    while (streams.length < place) streams.push(undefined as never);
    streams[place] = stream;
    return stream;
  }

  /** Creates the stream that `of` returns, without keeping it. Each call starts it again. */
  once(agent: number | 'world', purpose: string): Stream {
    return new SeededStream(...stateOf(`folkmoot/${this.seed}/${agent}/${purpose}`));
  }

  /**
   * Returns a stream of draws about one subject. An agent's draws about one subject do not depend
   * on its draws about other subjects. A second call returns identical numbers, so each purpose
   * calls this method once per subject. The stream ends with the next call for the same purpose,
   * except for a script, which may keep it.
   *
   * Each word of the state is a hash (MurmurHash3's finalizer, applied once per value). The first
   * output of xoshiro128** depends on one word only, and among a million subjects two can agree in
   * one word. The first output is therefore discarded.
   */
  about(agent: number, purpose: string, subject: Subject, round = 0): Stream {
    let origin = this.#origins.get(purpose);
    if (!origin) {
      const isShared = !purpose.startsWith('script/');
      origin = new Origin(`folkmoot/${this.seed}/about/${purpose}`, isShared);
      this.#origins.set(purpose, origin);
    }
    const stream = origin.stream(agent, subject, round);
    stream.next();
    return stream;
  }
}

/** Returns a random permutation of the integers below `count` (Fisher-Yates). */
export function shuffle(count: number, stream: Stream): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) swap(order, last, stream.int(last + 1));
  return order;
}

/**
 * Draws a sample without replacement: the first steps of a shuffle from the front. `shuffle` works
 * from the end, so identical draws would give different items.
 */
export function sample<T>(from: readonly T[], count: number, stream: Stream): T[] {
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

const MIX_START = 0x9e3779b9;

/** Stateless draw: a 32-bit hash of integers (MurmurHash3's finalizer). */
export function mix(...values: readonly number[]): number {
  let hash = MIX_START;
  for (const value of values) hash = absorb(hash, value);
  return hash >>> 0;
}

/** Returns `mix(a, b)` without allocating a list: it runs for every message and receiver. */
export function mixPair(a: number, b: number): number {
  return absorb(absorb(MIX_START, a), b) >>> 0;
}

/** Returns `mix(a, b, c, d)`. */
export function mixFour(a: number, b: number, c: number, d: number): number {
  return absorb(absorb(absorb(absorb(MIX_START, a), b), c), d) >>> 0;
}

/** Returns `mix(a, b, c, d, e, f)`. */
export function mixSix(a: number, b: number, c: number, d: number, e: number, f: number): number {
  const four = absorb(absorb(absorb(absorb(MIX_START, a), b), c), d);
  return absorb(absorb(four, e), f) >>> 0;
}

/** Adds an integer to a 32-bit hash. For a fixed hash, this permutes the integers. */
function absorb(hash: number, value: number): number {
  let mixed = hash ^ value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
