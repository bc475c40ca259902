/** Traits from distributions: independent draws per agent, as in theory, listed in agents.csv. */
import { completeScenario, personalities, ScenarioError } from 'folkmoot/sim';
import { drawBeta } from '../../../dist/sim/numbers.js';
import { Streams } from '../../../dist/sim/rng.js';
import { drawnTraits } from '../../../dist/sim/scenario/population.js';
import { live } from '../fixture.js';

type Traits = Parameters<typeof drawnTraits>[0];

function many(name: keyof Traits, trait: object, count = 20_000): number[] {
  const streams = new Streams('traits');
  return Array.from({ length: count }, (_, agent) => {
    const drawn = drawnTraits({ [name]: trait } as Traits, (purpose) => streams.of(agent, purpose));
    return drawn[name]!;
  });
}

const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
const variance = (values: number[]) => mean(values.map((one) => (one - mean(values)) ** 2));

test('uniform: has the mean and variance, and integers for integer traits', () => {
  const care = many('care', { distribution: 'uniform', from: 0.2, to: 0.8 });
  expect(mean(care)).toBeCloseTo(0.5, 2);
  expect(variance(care)).toBeCloseTo(0.36 / 12, 3);
  const threshold = many('threshold', { distribution: 'uniform', from: 40, to: 60 });
  expect(threshold.every((one) => Number.isInteger(one) && one >= 40 && one <= 60)).toBe(true);
  expect(new Set(threshold).size).toBe(21);
});

test('normal: is clamped to the bounds of the trait', () => {
  const memes = many('memes', { distribution: 'normal', mean: 0.1, deviation: 0.1 });
  // One in 6.3 lies below 0 and is clamped.
  expect(memes.filter((one) => one === 0).length / memes.length).toBeCloseTo(0.1587, 1);
  expect(Math.min(...memes)).toBe(0);
  expect(mean(many('random', { distribution: 'normal', mean: 50, deviation: 5 }))).toBeCloseTo(
    50,
    0,
  );
});

test('choice: follows the weights', () => {
  const some = many('abstains', {
    ...{ distribution: 'choice', values: [0, 0.5, 1], weights: [2, 1, 1] },
  });
  expect(some.filter((one) => one === 0).length / some.length).toBeCloseTo(0.5, 1);
  expect(new Set(some)).toEqual(new Set([0, 0.5, 1]));
});

// Mean a / (a + b), variance a b / (a + b)^2 (a + b + 1), skewness by the third moment.
test.each([
  [2, 5],
  [0.5, 0.5],
  [1, 1],
  [30, 10],
  [0.05, 2],
])('beta: has the first three moments for %d and %d', (a, b) => {
  const rng = new Streams(`beta ${a} ${b}`).of('world', 'x');
  const values = Array.from({ length: 100_000 }, () => drawBeta(a, b, rng));
  expect(values.every((one) => one >= 0 && one <= 1)).toBe(true);
  const moment = (power: number) => mean(values.map((one) => one ** power));
  let expected = 1;
  for (let power = 1; power <= 3; power += 1) {
    expected *= (a + power - 1) / (a + b + power - 1);
    const spread = Math.sqrt((moment(2 * power) - moment(power) ** 2) / values.length);
    expect(Math.abs(moment(power) - expected)).toBeLessThan(4.4 * spread);
  }
});

test('beta: is 0 or 1 for very small parameters', () => {
  const rng = new Streams('small').of('world', 'x');
  const values = Array.from({ length: 10_000 }, () => drawBeta(0.01, 0.01, rng));
  expect(values.every((one) => one >= 0 && one <= 1)).toBe(true);
  expect(mean(values)).toBeCloseTo(0.5, 1);
});

test('traits: each has a separate stream, so another trait does not shift it', () => {
  const of = (traits: Traits) => drawnTraits(traits, (purpose) => new Streams('s').of(3, purpose));
  const care = { distribution: 'beta', alpha: 2, beta: 2 } as const;
  const other = { distribution: 'uniform', from: 0, to: 1 } as const;
  expect(of({ care, accepts: other }).care).toBe(of({ care }).care);
});

test('agents.csv: lists drawn traits; personality and group give the rest', async () => {
  const care = { distribution: 'uniform', from: 0.1, to: 0.9 };
  const group = { group: 'a', count: 12, producers: 1, personality: ['memetic'] };
  const { agents } = await live([{ ...group, traits: { care, threshold: 61 } }]);
  const own = agents.map((row) => Number(row.trait_care));
  expect([new Set(own).size, own.every((one) => one >= 0.1 && one <= 0.9)]).toEqual([12, true]);
  for (const row of agents) {
    expect([row.trait_threshold, row.trait_meme]).toEqual(['61', '70']);
    expect(Number(row.trait_memes)).toBe(personalities.memetic!.memes);
  }
});

test.each([
  [{ distribution: 'zipf' }, /traits.care.distribution is "zipf"; expected one of uniform/],
  [{ distribution: 'uniform', from: 0 }, /traits.care.to is missing; expected from and to/],
  [{ distribution: 'normal', from: 0 }, /care.mean is missing; expected mean and deviation/],
  [{ distribution: 'uniform', from: 0, to: 1, mean: 1 }, /care.mean is an unknown key; expected/],
  [{ distribution: 'uniform', from: 0.6, to: 0.5 }, /care.from is 0.6; expected at most 0.5/],
  [{ distribution: 'uniform', from: 0, to: 2 }, /care.to is 2; expected a number from 0 to 1/],
  [{ distribution: 'choice', values: [0, 7] }, /care.values.1 is 7; expected a number from 0/],
  [{ distribution: 'choice', values: [0, 1], weights: [1] }, /care.weights is 1; expected 2/],
  [{ distribution: 'choice', values: [0], weights: [0] }, /care.weights is 0; expected 1/],
  [{ distribution: 'beta', alpha: 0, beta: 1 }, /traits.care/],
  ['much', /traits.care is "much"; expected a number from 0 to 1, or /],
])('refusals: refuses %o', (care, message) => {
  const agents = [{ group: 'a', count: 4, producers: 1, traits: { care } }];
  expect(() => completeScenario({ title: 't', agents })).toThrow(ScenarioError);
  expect(() => completeScenario({ title: 't', agents })).toThrow(message);
});
