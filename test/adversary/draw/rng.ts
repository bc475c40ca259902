/** Random streams by name, so that an individual exchange can be drawn again. */
import { randomInt } from 'node:crypto';
import seedrandom from 'seedrandom';

/** Seed of this run. Set FOLKMOOT_TEST_SEED to repeat a failed run. */
export const seed = process.env.FOLKMOOT_TEST_SEED ?? `${randomInt(2 ** 31)}`;

export class Rng {
  readonly name: string;
  readonly #next: () => number;

  constructor(name: string) {
    this.name = name;
    this.#next = seedrandom.alea(name);
  }

  /** Returns an integer from 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor(this.#next() * below);
  }

  /** Returns true once in `times` draws on average. */
  once(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!;
  }

  /** Returns a size that is usually small and sometimes up to `most`. */
  size(most: number): number {
    return this.once(8) ? this.int(most + 1) : this.int(Math.min(most, 12) + 1);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.int(256)));
  }

  hex(length: number): string {
    return this.bytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length);
  }

  /** Returns the given number of code points from many scripts. */
  text(length: number): string {
    return Array.from({ length }, () => this.pick(this.once(4) ? strangeLetters : letters)).join(
      '',
    );
  }
}

const letters = [...'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-. :/'];
/** Combining, right-to-left, wide, astral, control and JSON-escaped characters. */
const strangeLetters = [
  ...[...'äßЖשعक中𝒳😀', '\u0301', '\u1ad5', '\u202e', '\ufeff', '\u0000', '\u0085', '\u2028', '"'],
  ...['\\', '\n', '\r\n', '\t', '%', '\u{10ffff}'],
];
