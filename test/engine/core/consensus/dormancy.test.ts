/** How much of a network may fall dormant, and for what: a few must not be left alone. */
import { expect, test } from 'vitest';
import { answerOf, type Citizen, foundTown, type Town } from '../../helpers.js';

const PERIOD_MS = 1_000;
const quick = { voting_period_ms: PERIOD_MS };

const sleeping = ({ network }: Town, citizens: readonly Citizen[]): number =>
  citizens.filter(({ id }) => network.read.agent(id)?.dormant).length;

/** Each maker opens a block at one instant, the voters vote on all, and all expire together. */
async function expireTogether(town: Town, makers: readonly Citizen[], voters: Citizen[] = []) {
  const hashes: string[] = [];
  for (const maker of makers) hashes.push(await town.open(maker));
  for (const hash of hashes) await town.votes(voters, hash, 'approve');
  await town.wait(PERIOD_MS + 1);
  expect(hashes.map((hash) => town.blockStatus(hash))).toEqual(hashes.map(() => 'expired'));
}

async function expire(town: Town, times: number, maker: Citizen, voters: Citizen[] = []) {
  for (let time = 0; time < times; time += 1) await expireTogether(town, [maker], voters);
}

test('dormancy: blocks that expire side by side are one miss', async () => {
  const town = await foundTown({ genesis: { ...quick, dormant_share_max: 10_000 } });
  const makers = await town.joinMany(8, ['producer']);
  const citizens = await town.joinMany(4);
  await expireTogether(town, makers);
  await expireTogether(town, makers);
  expect(sleeping(town, citizens)).toBe(0);
  await expireTogether(town, makers);
  expect(sleeping(town, citizens)).toBe(4);
});

test('dormancy: blocks that overlap are one miss, however they are staggered', async () => {
  const town = await foundTown({ genesis: { ...quick, dormant_share_max: 10_000 } });
  const makers = await town.joinMany(8, ['producer']);
  const citizens = await town.joinMany(4);
  // One after another within two periods: the last ones end after two and a half.
  for (const maker of [...makers, ...makers]) {
    await town.open(maker);
    await town.wait(126);
  }
  await town.wait(PERIOD_MS);
  expect(sleeping(town, citizens)).toBe(0);
  // The third period that begins after the last one counted.
  await expire(town, 1, makers[0]!);
  expect(sleeping(town, citizens)).toBe(4);
});

test.each([
  0, 1,
])('dormancy: a vote in one of them is enough, in the one that ends %i', async (which) => {
  const genesis = { ...quick, dormant_share_max: 10_000, dormant_after: 1 };
  const town = await foundTown({ genesis });
  const makers = await town.joinMany(2, ['producer']);
  const [ada, ...others] = await town.joinMany(4);
  const hashes = [await town.open(makers[0]!)];
  await town.wait(500);
  hashes.push(await town.open(makers[1]!));
  await town.vote(ada!, hashes[which]!);
  await town.wait(501);
  await town.wait(500);
  expect(hashes.map((hash) => town.blockStatus(hash))).toEqual(['expired', 'expired']);
  expect([sleeping(town, [ada!]), sleeping(town, others)]).toEqual([0, 3]);
});

test('dormancy: takes a third of the weight, and no more however long it lasts', async () => {
  const town = await foundTown({ genesis: { ...quick, leak_periods: 0 } });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(43);
  await expire(town, 2, maker);
  expect(sleeping(town, citizens)).toBe(0);
  await expire(town, 40, maker);
  expect(sleeping(town, citizens)).toBe(14);
  expect(answerOf<'propose'>(await town.propose(maker)).electorate).toBe(29);
});

test('dormancy: who missed most sleeps first, then by registration', async () => {
  const town = await foundTown({ genesis: quick });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(9);
  const late = citizens.slice(6);
  // The last three miss one period more than all others.
  await expire(town, 1, maker, citizens.slice(0, 5));
  await expire(town, 2, maker);
  expect(citizens.map((one) => sleeping(town, [one]))).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0]);
  expect(sleeping(town, late)).toBe(1);
  await expire(town, 3, maker);
  expect(sleeping(town, citizens)).toBe(2);
});

test('dormancy: whoever wakes makes room for another', async () => {
  const town = await foundTown({ genesis: quick });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(6);
  await expire(town, 3, maker);
  expect(citizens.map((one) => sleeping(town, [one]))).toEqual([1, 0, 0, 0, 0, 0]);
  await town.meme(citizens[0]!, 'gm');
  // Its next vote is its count's end, so that another comes first.
  await expire(town, 1, maker, [citizens[0]!]);
  expect(citizens.map((one) => sleeping(town, [one]))).toEqual([0, 1, 0, 0, 0, 0]);
});

test('dormancy: measured by weight, as votes are', async () => {
  const town = await foundTown({ genesis: { ...quick, weights: 'alliance_bonus' } });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(6);
  await town.allied(citizens[0]!, citizens.slice(1, 3), { duration: 'P1D' });
  // Of 3 * 104 + 3 * 100 = 612 there may be 203: one of 104 and none of 100 with it.
  await expire(town, 5, maker);
  expect(citizens.map((one) => sleeping(town, [one]))).toEqual([1, 0, 0, 0, 0, 0]);
});

test('dormancy: each long standstill lets a third of the rest go', async () => {
  const town = await foundTown({ genesis: { ...quick, leak_periods: 5 } });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(12);
  const faithful = citizens.slice(9);
  const left = citizens.slice(0, 9);
  const counts: number[] = [];
  for (let period = 0; period < 10; period += 1) {
    await expire(town, 1, maker, faithful);
    counts.push(sleeping(town, left));
  }
  // 12 - 3 = 9 awake; of these ceil(9 / 3) go after 5 periods, and ceil(6 / 3) after 10.
  expect(counts).toEqual([0, 0, 3, 3, 6, 6, 6, 6, 6, 8]);
  expect(sleeping(town, faithful)).toBe(0);
  await town.votes(faithful, await town.open(maker), 'approve');
  expect(town.network.read.networkState().block_height).toBe(1);
});

test('dormancy: a finalized block begins the standstill anew, and wakes nobody', async () => {
  const town = await foundTown({ genesis: { ...quick, leak_periods: 5 } });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(6);
  const faithful = citizens.slice(2);
  await expire(town, 4, maker);
  await town.votes(citizens, await town.open(maker), 'approve');
  expect(town.network.read.networkState().block_height).toBe(1);
  await expire(town, 4, maker);
  // Two periods more would have let a third of the rest go.
  expect(sleeping(town, citizens)).toBe(1);
  await expire(town, 1, maker);
  expect(sleeping(town, citizens)).toBe(3);
  for (const one of faithful) await town.status(one, 'active');
  await town.votes(faithful, await town.open(maker), 'approve');
  expect(town.network.read.networkState().block_height).toBe(2);
  expect(sleeping(town, citizens.slice(0, 2))).toBeGreaterThan(0);
});

test('dormancy: an idle network does not stand still, however long it is idle', async () => {
  const town = await foundTown({ genesis: { ...quick, leak_periods: 1 } });
  const maker = await town.join(['producer']);
  const citizens = await town.joinMany(6);
  await town.wait(86_400_000);
  await expire(town, 3, maker);
  // Three periods: 1, then ceil(5 / 3), ceil(3 / 3), and ceil(2 / 3) of the rest.
  expect(sleeping(town, citizens)).toBe(5);
  const other = await foundTown({ genesis: { ...quick, leak_periods: 4 } });
  const single = await other.join(['producer']);
  const six = await other.joinMany(6);
  await other.wait(86_400_000);
  await expire(other, 3, single);
  expect(sleeping(other, six)).toBe(1);
});

test('dormancy: 0 lets nobody sleep, 10,000 all', async () => {
  for (const [share, expected] of [
    [0, 0],
    [10_000, 6],
  ] as const) {
    const genesis = { ...quick, dormant_share_max: share, leak_periods: 1 };
    const town = await foundTown({ genesis });
    const maker = await town.join(['producer']);
    const citizens = await town.joinMany(6);
    await expire(town, 3, maker);
    expect(sleeping(town, citizens)).toBe(expected);
  }
});
