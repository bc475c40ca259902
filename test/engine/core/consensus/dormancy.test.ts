/** Limits on dormancy. A small group must not be the only one left awake. */
import { expect, test } from 'vitest';
import type { Citizen } from '../../../support/citizens.js';
import { answerOf, newPopulation, type Population } from '../../helpers.js';

const PERIOD_MS = 1_000;
const quick = { voting_period_ms: PERIOD_MS };

const sleeping = ({ network }: Population, citizens: readonly Citizen[]): number =>
  citizens.filter(({ id }) => network.read.agent(id)?.dormant).length;

/**
 * Lets makers propose blocks at one instant and voters vote on all of them. All blocks expire
 * together.
 */
async function expireTogether(
  population: Population,
  makers: readonly Citizen[],
  voters: Citizen[] = [],
) {
  const hashes: string[] = [];
  for (const maker of makers) hashes.push(await population.open(maker));
  for (const hash of hashes) await population.votes(voters, hash, 'approve');
  await population.wait(PERIOD_MS + 1);
  expect(hashes.map((hash) => population.blockStatus(hash))).toEqual(hashes.map(() => 'expired'));
}

async function expire(
  population: Population,
  times: number,
  maker: Citizen,
  voters: Citizen[] = [],
) {
  for (let time = 0; time < times; time += 1) await expireTogether(population, [maker], voters);
}

test('dormancy: affects at most a third of the weight', async () => {
  const population = await newPopulation({ genesis: { ...quick, leak_periods: 0 } });
  const maker = await population.join(['producer']);
  const citizens = await population.joinMany(43);
  await expire(population, 2, maker);
  expect(sleeping(population, citizens)).toBe(0);
  await expire(population, 40, maker);
  expect(sleeping(population, citizens)).toBe(14);
  expect(answerOf<'propose'>(await population.propose(maker)).electorate).toBe(29);
});

test('dormancy: affects a third of the rest after each long standstill', async () => {
  const population = await newPopulation({ genesis: { ...quick, leak_periods: 5 } });
  const maker = await population.join(['producer']);
  const citizens = await population.joinMany(12);
  const faithful = citizens.slice(9);
  const left = citizens.slice(0, 9);
  const counts: number[] = [];
  for (let period = 0; period < 10; period += 1) {
    await expire(population, 1, maker, faithful);
    counts.push(sleeping(population, left));
  }
  // 12 - 3 = 9 agents are awake. ceil(9 / 3) follow after 5 periods, and ceil(6 / 3) after 10.
  expect(counts).toEqual([0, 0, 3, 3, 6, 6, 6, 6, 6, 8]);
  expect(sleeping(population, faithful)).toBe(0);
  await population.votes(faithful, await population.open(maker), 'approve');
  expect(population.network.read.networkState().block_height).toBe(1);
});

test('dormancy: affects no agent with the parameter 0, and all agents with 10,000', async () => {
  for (const [share, expected] of [
    [0, 0],
    [10_000, 6],
  ] as const) {
    const genesis = { ...quick, dormant_share_max: share, leak_periods: 1 };
    const population = await newPopulation({ genesis });
    const maker = await population.join(['producer']);
    const citizens = await population.joinMany(6);
    await expire(population, 3, maker);
    expect(sleeping(population, citizens)).toBe(expected);
  }
});
