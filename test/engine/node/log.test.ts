/** The log: only requests that change state, as received, in a digest chain. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Digests } from 'folkmoot/testing';
import { counts } from '../../support/counts.js';

/** Builds a frame, in which each part follows its length in eight bytes. */
function framed(parts: (string | Uint8Array)[]): Buffer {
  const pieces = parts.flatMap((part) => {
    const bytes = Buffer.from(part as string);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    return [length, bytes];
  });
  return Buffer.concat(pieces);
}

const texts = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.constantFrom('', '\u4e0d\u540c\u610f'.repeat(9_000), 'x'.repeat(70_000)),
);
const lines = fc.record({
  at: fc.maxSafeInteger(),
  body: fc.oneof(texts, fc.uint8Array(), fc.constant(new Uint8Array(90_000).fill(7))),
  kind: fc.constantFrom('vote' as const, 'tick' as const),
  public_key: texts,
  results: fc.array(texts, { maxLength: 5 }),
  seq: fc.nat(),
  signature: texts,
  target: texts,
  timestamp: texts,
});

test('log: stored entries with any texts and sizes keep their bytes and digests', () => {
  const hash = (...parts: Uint8Array[]) =>
    createHash('sha256').update(Buffer.concat(parts)).digest();
  const property = fc.property(fc.array(lines, { maxLength: 40 }), (all) => {
    const digests = new Digests();
    const stored = all.map(({ results, ...entry }) => digests.advance(entry, results));
    let [log, state] = [Buffer.alloc(32), Buffer.alloc(32)] as Uint8Array[];
    for (const [index, { results, ...entry }] of all.entries()) {
      const { seq, at, kind, public_key, target, timestamp, signature, body } = entry;
      const parts = [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
      log = hash(log!, framed(parts));
      state = hash(state!, log, framed(results));
      expect(Buffer.concat([log, state, framed(parts)]).equals(stored[index]!)).toBe(true);
    }
    expect(digests.digest).toBe(Buffer.from(state!).toString('hex'));
  });
  fc.assert(property, { numRuns: counts.loggedEntries });
});
