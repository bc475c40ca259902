/** The canonical encoder against the library that is made for RFC 8785. */
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonical } from 'folkmoot';
import { expect, test } from 'vitest';
import { counts } from '../../support/counts.js';

test('canonical: the text of RFC 8785 for every JSON value without lone surrogates', () => {
  const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
  fc.assert(
    fc.property(value, (json) => {
      expect(canonical(json)).toBe(canonicalize(json));
    }),
    { numRuns: counts.canonicalValues },
  );
});

test('canonical: what is no JSON value has no canonical form', () => {
  expect(() => canonical(undefined)).toThrow(TypeError);
});
