/**
 * How Alea of Johannes Baagøe (2010) begins with a text: the four whole numbers of 32 bits that it
 * draws first make the state of a stream. A run makes some streams for each agent.
 */
import type { Xoshiro128State } from './xoshiro.js';

const TWO_32 = 2 ** 32;
const PART = 1 / TWO_32;

/** Stirs a text into 32 bits and what is behind their point. */
function stirred(from: number, text: string): number {
  let mixed = from;
  for (let index = 0; index < text.length; index += 1) {
    mixed += text.charCodeAt(index);
    let rest = 0.02519603282416938 * mixed;
    mixed = rest >>> 0;
    rest = (rest - mixed) * mixed;
    mixed = rest >>> 0;
    mixed += (rest - mixed) * TWO_32;
  }
  return mixed;
}

const shareOf = (mixed: number): number => (mixed >>> 0) * PART;

/** A share less another, round the circle. */
function lessOf(share: number, mixed: number): number {
  const less = share - shareOf(mixed);
  return less < 0 ? less + 1 : less;
}

const one = stirred(0xefc8249d, ' ');
const two = stirred(one, ' ');
const three = stirred(two, ' ');

/** The first four draws, from -2^31 to 2^31 - 1, of the generator that the text names. */
export function aleaState(text: string): Xoshiro128State {
  const first = stirred(three, text);
  const second = stirred(first, text);
  const third = stirred(second, text);
  const a = 2091639 * lessOf(shareOf(one), first) + PART;
  const b = 2091639 * lessOf(shareOf(two), second) + (a | 0) * PART;
  const c = 2091639 * lessOf(shareOf(three), third) + (b | 0) * PART;
  const d = 2091639 * (a - (a | 0)) + (c | 0) * PART;
  return [bitsOf(a), bitsOf(b), bitsOf(c), bitsOf(d)];
}

const bitsOf = (drawn: number): number => ((drawn - (drawn | 0)) * TWO_32) | 0;
