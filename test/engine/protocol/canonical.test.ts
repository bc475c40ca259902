/** The canonical encoder, compared with an RFC 8785 library. */
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonical } from 'folkmoot';
import { counts } from '../../support/counts.js';

test('canonical: equals RFC 8785 for all JSON values without lone surrogates', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), (json) => {
      expect(canonical(json)).toBe(canonicalize(json));
    }),
    { numRuns: counts.canonicalValues },
  );
});

test('canonical: refuses values without a JSON form', () => {
  expect(() => canonical(undefined)).toThrow(TypeError);
});
