/** What names make of a stream is what seedrandom's Alea draws first. */
import fc from 'fast-check';
import seedrandom from 'seedrandom';
import { expect, test } from 'vitest';
import { aleaState } from '../../../dist/sim/numbers/alea.js';

function byPackage(text: string): number[] {
  const alea = seedrandom.alea(text);
  return [alea.int32(), alea.int32(), alea.int32(), alea.int32()];
}

test('alea: the first four draws of the package, of any name', () => {
  const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
  const property = fc.property(names, (name) => {
    expect(aleaState(name)).toEqual(byPackage(name));
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('alea: of names as streams have them', () => {
  for (let agent = 0; agent < 2_000; agent += 1) {
    const name = `folkmoot/${agent % 7}/${agent}/votes`;
    expect(aleaState(name), name).toEqual(byPackage(name));
  }
});
