/** Electorates and dormancy, and the figures of the network: pending, throughput, metrics. */
import { expect, test } from 'vitest';
import {
  answerOf,
  type Citizen,
  foundTown,
  instant,
  START_MS,
  type Town,
  word,
} from '../../helpers.js';

const both = ['validator', 'producer'] as const;
/** Without a bound on how many may sleep; dormancy.test.ts has those. */
const rest = { genesis: { voting_period_ms: 1_000, dormant_share_max: 10_000 } };

/** Blocks that expire one after another, with the votes of a few. */
async function expire(town: Town, times: number, maker: Citizen, voters: readonly Citizen[] = []) {
  for (let time = 0; time < times; time += 1) {
    const hash = await town.open(maker);
    await town.votes(voters, hash, 'approve');
    await town.wait(1_001);
    expect(town.blockStatus(hash)).toBe('expired');
  }
}

const electorate = async (town: Town, maker: Citizen): Promise<number> =>
  answerOf<'propose'>(await town.propose(maker)).electorate;

const dormant = (town: Town, { id }: Citizen) => town.network.read.agent(id)?.dormant;

test('electorate: holds the active validators at the proposal', async () => {
  const town = await foundTown();
  const maker = await town.join(['producer']);
  const [ada, bob] = await town.joinMany(4);
  await town.status(ada!, 'inactive');
  await town.status(bob!, 'maintenance');
  expect(await electorate(town, maker)).toBe(2);
});

test('dormancy: begins after three expired blocks without a vote', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada, bob] = await town.joinMany(4);
  await expire(town, 2, maker, [ada!]);
  expect(dormant(town, bob!)).toBe(false);
  await expire(town, 1, maker, [ada!]);
  expect([ada!, bob!].map((agent) => dormant(town, agent))).toEqual([false, true]);
  expect(await electorate(town, maker)).toBe(1);
});

test('dormancy: leaves the status and the lists as they are', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada, bob] = await town.joinMany(4);
  await expire(town, 3, maker, [ada!]);
  expect(town.network.read.agent(bob!.id)).toMatchObject({ status: 'active', dormant: true });
  expect(town.network.read.networkState().active_validators).toBe(4);
  expect(town.network.read.activeAgents().validators).toHaveLength(4);
});

test('dormancy: a vote in between begins the count anew', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada, bob] = await town.joinMany(4);
  await expire(town, 2, maker, [ada!]);
  await expire(town, 1, maker, [bob!]);
  await expire(town, 2, maker);
  expect(dormant(town, bob!)).toBe(false);
  await expire(town, 1, maker);
  expect(dormant(town, bob!)).toBe(true);
});

test('dormancy: blocks that are rejected do not count', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada, bob, cem] = await town.joinMany(4);
  for (let time = 0; time < 5; time += 1) {
    await town.votes([ada!, bob!], await town.open(maker), 'reject');
  }
  expect(dormant(town, cem!)).toBe(false);
});

test('dormancy: ends with the next accepted command, and not with a refused one', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada, bob] = await town.joinMany(4);
  await expire(town, 3, maker, [ada!]);
  expect(word(await town.vote(bob!, 'f'.repeat(64)))).toBe('UNKNOWN_BLOCK');
  expect(dormant(town, bob!)).toBe(true);
  await town.status(bob!, 'active');
  expect(dormant(town, bob!)).toBe(false);
  expect(await electorate(town, maker)).toBe(2);
});

test('dormancy: when all sleep, nothing can be proposed until one acts', async () => {
  const town = await foundTown(rest);
  const maker = await town.join(['producer']);
  const [ada] = await town.joinMany(4);
  await expire(town, 3, maker);
  expect(word(await town.propose(maker))).toBe('NO_VALIDATORS');
  await town.meme(ada!, 'gm');
  expect(await electorate(town, maker)).toBe(1);
});

test('dormancy: a vote on a block that is still open wakes', async () => {
  const town = await foundTown(rest);
  const makers = await town.joinMany(2, ['producer']);
  const [ada] = await town.joinMany(4);
  await expire(town, 2, makers[0]!);
  await town.open(makers[0]!);
  await town.wait(500);
  const second = await town.open(makers[1]!);
  await town.wait(501);
  expect(dormant(town, ada!)).toBe(true);
  expect(word(await town.vote(ada!, second))).toBe('accepted');
  expect(dormant(town, ada!)).toBe(false);
});

test('dormancy: 0 is never, 1 is at once', async () => {
  const never = await foundTown({ genesis: { voting_period_ms: 1_000, dormant_after: 0 } });
  const maker = await never.join(['producer']);
  const ada = await never.join();
  await expire(never, 5, maker);
  expect(dormant(never, ada)).toBe(false);
  const once = await foundTown({ genesis: { ...rest.genesis, dormant_after: 1 } });
  const other = await once.join(['producer']);
  const bob = await once.join();
  await expire(once, 1, other);
  expect(dormant(once, bob)).toBe(true);
});

/** A block of so many transactions, finalized at once. */
async function finalize(town: Town, ada: Citizen, count: number): Promise<void> {
  const data = Array.from({ length: count }, (_, index) => `${town.now}/${index}`);
  const transactions = data.map((text) => town.transaction(ada, text));
  answerOf(await town.vote(ada, await town.open(ada, { transactions })));
}

test('network: pending_transactions are those of blocks in voting', async () => {
  const town = await foundTown();
  const [ada, bob] = [await town.join(both), await town.join(both)];
  const pending = () => town.network.read.networkState().pending_transactions;
  const transactions = ['one', 'two'].map((data) => town.transaction(ada, data));
  const hash = await town.open(ada, { transactions });
  await town.open(bob, { transactions: [town.transaction(bob, 'three')] });
  expect(pending()).toBe(3);
  await town.vote(ada, hash, 'reject');
  expect(pending()).toBe(1);
  await town.wait(30_001);
  expect(pending()).toBe(0);
});

test('network: network_tps counts what the last minute finalized, to two places', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const tps = () => town.network.read.networkState().network_tps;
  expect(tps()).toBe(0);
  await town.at(1_000);
  await finalize(town, ada, 7);
  expect(tps()).toBe(0.11);
  await town.at(2_000);
  await finalize(town, ada, 10);
  expect(tps()).toBe(0.28);
  await town.at(60_999);
  expect(tps()).toBe(0.28);
  await town.at(61_000);
  expect(tps()).toBe(0.16);
  await town.at(62_000);
  expect(tps()).toBe(0);
});

test('network: metrics come every five seconds while there is throughput', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  await town.at(12_345);
  await finalize(town, ada, 6);
  const mark = town.mark();
  await town.at(300_000);
  const told = town.told('network_metrics', mark);
  expect(told.map(({ tps }) => tps)).toEqual([...Array(12).fill(0.1), 0]);
});

test('network: metrics are due each five seconds and when the rate gets zero', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  await town.at(12_345);
  await finalize(town, ada, 6);
  const due: number[] = [];
  for (let next = town.network.nextDeadline(); next; next = town.network.nextDeadline()) {
    due.push(next - START_MS);
    await town.at(next - START_MS + 1);
  }
  expect(due).toEqual([...Array.from({ length: 12 }, (_, i) => 15_000 + i * 5_000), 72_345]);
});

test('network: metrics due at the instant of a finalization tell of it', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  await town.at(15_000);
  await finalize(town, ada, 6);
  expect(town.network.nextDeadline()).toBe(START_MS + 15_000);
});

test('network: an idle network writes nothing, nor does one of empty blocks', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  await finalize(town, ada, 0);
  const before = town.network.read.position;
  expect(town.network.nextDeadline()).toBeNull();
  await town.at(3_600_000);
  expect(town.network.read.position).toEqual(before);
});

test('network: lists hold active agents only, ascending by id, with their capability', async () => {
  const town = await foundTown();
  const citizens = [...(await town.joinMany(3, both)), await town.join(['producer'])];
  await town.status(citizens[0]!, 'maintenance');
  const { validators, producers } = town.network.read.activeAgents();
  const ids = (list: readonly Citizen[]) => list.map(({ id }) => id).sort();
  expect(validators.map(({ id }) => id)).toEqual(ids(citizens.slice(1, 3)));
  expect(producers.map(({ id }) => id)).toEqual(ids(citizens.slice(1)));
  expect(town.network.read.networkState()).toMatchObject({
    active_validators: 2,
    active_producers: 3,
    network_id: 'devnet',
    server_time: instant(0),
  });
});

test("reads: what all get is nobody's to change", async () => {
  const town = await foundTown();
  await town.join();
  const { read } = town.network;
  const { validators } = read.activeAgents();
  expect(() => Object.assign(read.networkState(), { block_height: 9 })).toThrow(TypeError);
  expect(() => validators.splice(0)).toThrow(TypeError);
  expect(read.activeAgents().validators).toHaveLength(1);
});
