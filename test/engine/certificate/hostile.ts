/** Random changes to certificates: a byte in the file, or a character with recomputed digests. */
import { drawnFrom } from '../../support/seeded.js';
import { type Forged, forged, type Link, linksOf } from './town.js';

export function changedByte(text: string, seed: number): Uint8Array {
  const draw = drawnFrom(seed);
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
  const draw = drawnFrom(seed);
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
