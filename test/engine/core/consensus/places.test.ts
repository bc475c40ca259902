/** The places of blocks in voting: who has them, and who gives way to whom. */
import { limits } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Citizen, foundTown, refusalOf, type Town, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;
const PLACES = limits.openBlocks;

/** A town whose holders have every place; `ada` is a producer, all have the reputation 50. */
async function fullTown(): Promise<{
  town: Town;
  ada: Citizen;
  holders: Citizen[];
  open: string[];
}> {
  const town = await foundTown();
  const ada = await town.join(both);
  const others = await town.joinMany(5, both);
  expect(others).toHaveLength(5);
  const holders = await town.joinMany(PLACES, ['producer']);
  const open: string[] = [];
  for (const holder of holders) open.push(await town.open(holder));
  return { town, ada, holders, open };
}

/** Raises the reputation of some, lowers that of others: a block rejected as one of them says. */
async function reject(town: Town, maker: Citizen, voters: readonly Citizen[]): Promise<void> {
  await town.votes(voters.slice(0, 2), await town.open(maker), 'reject');
}

test('places: a producer with the same reputation as all waits', async () => {
  const { town, ada } = await fullTown();
  expect(word(await town.propose(ada))).toBe('TOO_MANY_OPEN');
});

test('places: the lowest reputation gives way to a higher one, and is orphaned', async () => {
  const { town, ada, holders, open } = await fullTown();
  // A holder's block is rejected, which costs it, and gives those that voted so more.
  await town.votes(town.citizens.slice(0, 2), open[3]!, 'reject');
  open[3] = await town.open(holders[3]!);
  const mark = town.mark();
  const hash = await town.open(ada);
  expect(town.blockStatus(open[3])).toBe('orphaned');
  const others = open.filter((_, index) => index !== 3);
  expect(others.map((one) => town.blockStatus(one))).toEqual(others.map(() => 'voting'));
  const told = town
    .since(mark)
    .map(({ type, data }) => [type, (data as { block_hash: string }).block_hash]);
  expect(told).toEqual([
    ['block_status', open[3]],
    ['block_proposal', hash],
  ]);
  expect(town.network.read.record('open', ['block', open[3]])).toBeUndefined();
  // What gave way is over: it takes no vote, and its producer may try again.
  const late = await town.vote(town.citizens[4]!, open[3]);
  expect(refusalOf(late)).toMatchObject({ reason: 'VOTING_CLOSED', details: { height: 1 } });
  expect(word(await town.propose(holders[3]!))).toBe('TOO_MANY_OPEN');
});

test('places: of equal ones the newest gives way', async () => {
  const { town, ada, open } = await fullTown();
  const other = await town.join(['producer']);
  await town.votes(town.citizens.slice(0, 2), open[0]!, 'reject');
  const newest = await town.open(other);
  await town.open(ada);
  expect(town.blockStatus(newest)).toBe('orphaned');
  expect(town.blockStatus(open[1]!)).toBe('voting');
});

test('places: nobody makes room for itself twice with one block in voting', async () => {
  const { town, ada, open, holders } = await fullTown();
  await town.votes(town.citizens.slice(0, 2), open[0]!, 'reject');
  await town.open(holders[0]!);
  const own = await town.open(ada);
  const again = refusalOf(await town.propose(ada));
  expect([again.reason, again.details]).toEqual(['OPEN_BLOCK', { block_hash: own }]);
});

test('places: what is displaced is no miss for anybody', async () => {
  const genesis = { voting_period_ms: 60_000, dormant_after: 1, dormant_share_max: 10_000 };
  const town = await foundTown({ genesis });
  const [ada, bob, ...silent] = await town.joinMany(6, both);
  const holders = await town.joinMany(PLACES + 1, ['producer']);
  await reject(town, holders[0]!, [ada!, bob!]);
  const first = await town.open(holders[0]!);
  for (const holder of holders.slice(2)) await town.open(holder);
  await town.open(ada!);
  expect(town.blockStatus(first)).toBe('orphaned');
  await town.wait(59_000);
  const asleep = silent.filter(({ id }) => town.network.read.agent(id)!.dormant);
  expect(asleep).toEqual([]);
});
