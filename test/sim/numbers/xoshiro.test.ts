/** xoshiro128** against the reference implementation and the definition. */
import { Xoshiro128, type Xoshiro128State } from '../../../dist/sim/rng.js';
import { fc, forAll } from '../../support/property.js';

const drawn = (state: Xoshiro128State, count: number): number[] => {
  const generator = new Xoshiro128(...state);
  return Array.from({ length: count }, () => generator.next());
};

test('xoshiro128**: equals the C reference of prng.di.unimi.it', () => {
  expect(drawn([1, 2, 3, 4], 10)).toEqual([
    ...[11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034],
    ...[3734860849, 3729100597, 4258142804],
  ]);
  // Draws of 32 bits are signed integers in JavaScript.
  const bytes = [0x964d4a0c, 0xd40ab895, 0xad7fdecb, 0x3006f0f0] as const;
  const found = drawn(bytes, 4);
  expect(found).toEqual([0xf1391922, 0x6fe53806, 0xa5be2840, 0xf510ee70]);
  expect(drawn(bytes.map((one) => one | 0) as unknown as Xoshiro128State, 4)).toEqual(found);
});

/** Computes the draws by the definition in the paper, with big integers. */
function byDefinition(state: Xoshiro128State, count: number): number[] {
  const word = (value: bigint) => BigInt.asUintN(32, value);
  const rotated = (value: bigint, by: bigint) => word((value << by) | (value >> (32n - by)));
  const s = state.map((one) => word(BigInt(one))) as [bigint, bigint, bigint, bigint];
  return Array.from({ length: count }, () => {
    const result = word(rotated(word(s[1] * 5n), 7n) * 9n);
    const shifted = word(s[1] << 9n);
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotated(s[3], 11n);
    return Number(result);
  });
}

test('xoshiro128**: equals its definition from any state', () => {
  const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  forAll([fc.tuple(word, word, word, word)], (state) => {
    expect(drawn(state, 40)).toEqual(byDefinition(state, 40));
  });
});
