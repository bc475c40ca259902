/** Both SHA-256 implementations. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as node from '../../../dist/engine/protocol/sha256-node.js';
import * as portable from '../../../dist/engine/protocol/sha256-portable.js';
import { counts } from '../../support/counts.js';

test('sha256: matches the test vectors of FIPS 180-2, as bytes and as hex', () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  for (const { sha256, sha256Hex } of [node, portable]) {
    expect(sha256Hex('abc')).toBe(abc);
    expect(sha256Hex(new Uint8Array(0))).toBe(empty);
    expect(sha256('abc')).toStrictEqual(Uint8Array.from(Buffer.from(abc, 'hex')));
  }
});

test('sha256: both agree on any bytes and any string, including lone surrogates', () => {
  const input = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }));
  const property = fc.property(input, (data) => {
    expect(portable.sha256(data)).toStrictEqual(node.sha256(data));
    expect(portable.sha256Hex(data)).toBe(node.sha256Hex(data));
  });
  const examples: [string][] = [['\ud800'], ['a\udfffb'], ['früh – 不同意']];
  fc.assert(property, { numRuns: counts.fuzzHashes, examples });
});

test('sha256: hashes a view, not its whole buffer', () => {
  const view = new TextEncoder().encode('xabcx').subarray(1, 4);
  expect(node.sha256Hex(view)).toBe(node.sha256Hex('abc'));
  expect(portable.sha256Hex(view)).toBe(portable.sha256Hex('abc'));
});
