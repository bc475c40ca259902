/** Random changes to certificates: a byte in the file, or a character with recomputed digests. */
import { type Forged, forged, type Link, linksOf } from './town.js';

/** Generates random numbers from a seed (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Changes one byte. */
export function changedByte(text: string, seed: number): Uint8Array {
  const draw = random(seed);
  const bytes = Buffer.from(text);
  const at = draw(bytes.length);
  bytes[at] = (bytes[at]! + 1 + draw(255)) % 256;
  return bytes;
}

/** Lists all texts in requests and results, with their containers. */
export function textsOf(certificate: Forged): [of: Record<string, unknown>, name: string][] {
  return linksOf(certificate).flatMap(({ results, entry }: Link) => {
    const of = results as unknown as Record<string, unknown>;
    const told = results.map((_, at): [Record<string, unknown>, string] => [of, `${at}`]);
    return entry ? [...told, [entry, 'body']] : told;
  });
}

/** Changes one character in a text and recomputes the digests. */
export function changedText(text: string, seed: number): string {
  const draw = random(seed);
  return forged(text, (certificate) => {
    const texts = textsOf(certificate);
    let [of, name] = texts[draw(texts.length)]!;
    while (of[name] === '') [of, name] = texts[draw(texts.length)]!;
    const before = String(of[name]);
    const at = draw(before.length);
    const other = '0123456789abcdef"{}[],:-. '[draw(26)]!;
    of[name] = before.slice(0, at) + other + before.slice(at + 1);
  });
}
