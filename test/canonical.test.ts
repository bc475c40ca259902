/** The encoder of engine output against the RFC 8785 library that signing uses. */
import fc from 'fast-check';
import { canonical } from 'folkmoot';
import { jcs } from 'folkmoot/signing';
import { expect, test } from 'vitest';
import { counts } from './counts.js';

test('canonical: the text of RFC 8785 for every JSON value without lone surrogates', () => {
  const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
  fc.assert(
    fc.property(value, (json) => {
      expect(canonical(json)).toBe(jcs(json));
    }),
    { numRuns: counts.canonicalValues },
  );
});
