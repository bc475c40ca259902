/** The limit of open blocks, and displacement by reputation. */
import { limits } from 'folkmoot';
import { expect, test } from 'vitest';
import type { Citizen } from '../../../support/citizens.js';
import { expectRefused, newPopulation, type Population, refusalOf, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;
const PLACES = limits.openBlocks;

/**
 * Creates a population at the limit of open blocks. `ada` is a producer; every agent's reputation
 * is 50.
 */
async function fullTown(): Promise<{
  population: Population;
  ada: Citizen;
  holders: Citizen[];
  open: string[];
}> {
  const population = await newPopulation();
  const ada = await population.join(both);
  const others = await population.joinMany(5, both);
  expect(others).toHaveLength(5);
  const holders = await population.joinMany(PLACES, ['producer']);
  const open: string[] = [];
  for (const holder of holders) open.push(await population.open(holder));
  return { population, ada, holders, open };
}

/** Changes reputations by a rejected block: up for agents that reject, down for the others. */
async function reject(
  population: Population,
  maker: Citizen,
  voters: readonly Citizen[],
): Promise<void> {
  await population.votes(voters.slice(0, 2), await population.open(maker), 'reject');
}

test('places: a higher reputation displaces the lowest, whose block is orphaned', async () => {
  const { population, ada, holders, open } = await fullTown();
  // The rejected block lowers its producer's reputation and raises the rejecting voters'
  // reputation.
  await population.votes(population.citizens.slice(0, 2), open[3]!, 'reject');
  open[3] = await population.open(holders[3]!);
  const mark = population.mark();
  const hash = await population.open(ada);
  expect(population.blockStatus(open[3])).toBe('orphaned');
  const others = open.filter((_, index) => index !== 3);
  expect(others.map((one) => population.blockStatus(one))).toEqual(others.map(() => 'voting'));
  const told = population
    .since(mark)
    .map(({ type, data }) => [type, (data as { block_hash: string }).block_hash]);
  expect(told).toEqual([
    ['block_status', open[3]],
    ['block_proposal', hash],
  ]);
  expect(population.network.read.record('open', ['block', open[3]])).toBeUndefined();
  // The displaced block is closed, and its producer can propose again.
  const late = await population.vote(population.citizens[4]!, open[3]);
  expectRefused(late, 'VOTING_CLOSED', { details: { height: 1 } });
  expect(word(await population.propose(holders[3]!))).toBe('TOO_MANY_OPEN');
});

test('places: a producer with an open block cannot displace a second one', async () => {
  const { population, ada, open, holders } = await fullTown();
  await population.votes(population.citizens.slice(0, 2), open[0]!, 'reject');
  await population.open(holders[0]!);
  const own = await population.open(ada);
  const again = refusalOf(await population.propose(ada));
  expect([again.reason, again.details]).toEqual(['OPEN_BLOCK', { block_hash: own }]);
});

test('places: a displaced block causes no absence', async () => {
  const genesis = { voting_period_ms: 60_000, dormant_after: 1, dormant_share_max: 10_000 };
  const population = await newPopulation({ genesis });
  const [ada, bob, ...silent] = await population.joinMany(6, both);
  const holders = await population.joinMany(PLACES + 1, ['producer']);
  await reject(population, holders[0]!, [ada!, bob!]);
  const first = await population.open(holders[0]!);
  for (const holder of holders.slice(2)) await population.open(holder);
  await population.open(ada!);
  expect(population.blockStatus(first)).toBe('orphaned');
  await population.wait(59_000);
  const asleep = silent.filter(({ id }) => population.network.read.agent(id)!.dormant);
  expect(asleep).toEqual([]);
});
