/** Electorates and dormancy, and network figures: pending, throughput, metrics. */
import { expect, test } from 'vitest';
import { type Citizen, instant, START_MS } from '../../../support/citizens.js';
import { answerOf, newPopulation, type Population, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;
/** Options without a dormancy limit, which dormancy.test.ts covers. */
const rest = { genesis: { voting_period_ms: 1_000, dormant_share_max: 10_000 } };

/** Runs consecutive blocks that expire with few votes. */
async function expire(
  population: Population,
  times: number,
  maker: Citizen,
  voters: readonly Citizen[] = [],
) {
  for (let time = 0; time < times; time += 1) {
    const hash = await population.open(maker);
    await population.votes(voters, hash, 'approve');
    await population.wait(1_001);
    expect(population.blockStatus(hash)).toBe('expired');
  }
}

const electorate = async (population: Population, maker: Citizen): Promise<number> =>
  answerOf<'propose'>(await population.propose(maker)).electorate;

test('dormancy: keeps the status and the lists', async () => {
  const population = await newPopulation(rest);
  const maker = await population.join(['producer']);
  const [ada, bob] = await population.joinMany(4);
  await expire(population, 3, maker, [ada!]);
  expect(population.network.read.agent(bob!.id)).toMatchObject({ status: 'active', dormant: true });
  expect(population.network.read.networkState().active_validators).toBe(4);
  expect(population.network.read.activeAgents().validators).toHaveLength(4);
});

test('dormancy: refuses proposals while all agents are dormant', async () => {
  const population = await newPopulation(rest);
  const maker = await population.join(['producer']);
  const [ada] = await population.joinMany(4);
  await expire(population, 3, maker);
  expect(word(await population.propose(maker))).toBe('NO_VALIDATORS');
  await population.meme(ada!, 'gm');
  expect(await electorate(population, maker)).toBe(1);
});

/** Finalizes a block with a given number of transactions. */
async function finalize(population: Population, ada: Citizen, count: number): Promise<void> {
  const data = Array.from({ length: count }, (_, index) => `${population.now}/${index}`);
  const transactions = data.map((text) => population.transaction(ada, text));
  answerOf(await population.vote(ada, await population.open(ada, { transactions })));
}

test('network: pending_transactions counts those of open blocks', async () => {
  const population = await newPopulation();
  const [ada, bob] = [await population.join(both), await population.join(both)];
  const pending = () => population.network.read.networkState().pending_transactions;
  const transactions = ['one', 'two'].map((data) => population.transaction(ada, data));
  const hash = await population.open(ada, { transactions });
  await population.open(bob, { transactions: [population.transaction(bob, 'three')] });
  expect(pending()).toBe(3);
  await population.vote(ada, hash, 'reject');
  expect(pending()).toBe(1);
  await population.wait(30_001);
  expect(pending()).toBe(0);
});

test('network: network_tps covers the last minute, with two decimals', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const tps = () => population.network.read.networkState().network_tps;
  expect(tps()).toBe(0);
  await population.at(1_000);
  await finalize(population, ada, 7);
  expect(tps()).toBe(0.11);
  await population.at(2_000);
  await finalize(population, ada, 10);
  expect(tps()).toBe(0.28);
  await population.at(60_999);
  expect(tps()).toBe(0.28);
  await population.at(61_000);
  expect(tps()).toBe(0.16);
  await population.at(62_000);
  expect(tps()).toBe(0);
});

test('network: emits metrics every five seconds and when the rate becomes zero', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  await population.at(12_345);
  await finalize(population, ada, 6);
  const due: number[] = [];
  for (
    let next = population.network.nextDeadline();
    next;
    next = population.network.nextDeadline()
  ) {
    due.push(next - START_MS);
    await population.at(next - START_MS + 1);
  }
  expect(due).toEqual([...Array.from({ length: 12 }, (_, i) => 15_000 + i * 5_000), 72_345]);
});

test('network: writes nothing while idle or with empty blocks', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  await finalize(population, ada, 0);
  const before = population.network.read.position;
  expect(population.network.nextDeadline()).toBeNull();
  await population.at(3_600_000);
  expect(population.network.read.position).toEqual(before);
});

test('network: lists active agents by ascending id and by capability', async () => {
  const population = await newPopulation();
  const citizens = [...(await population.joinMany(3, both)), await population.join(['producer'])];
  await population.status(citizens[0]!, 'maintenance');
  const { validators, producers } = population.network.read.activeAgents();
  const ids = (list: readonly Citizen[]) => list.map(({ id }) => id).sort();
  expect(validators.map(({ id }) => id)).toEqual(ids(citizens.slice(1, 3)));
  expect(producers.map(({ id }) => id)).toEqual(ids(citizens.slice(1)));
  expect(population.network.read.networkState()).toMatchObject({
    active_validators: 2,
    active_producers: 3,
    network_id: 'devnet',
    server_time: instant(0),
  });
});

test('reads: shared responses are frozen', async () => {
  const population = await newPopulation();
  await population.join();
  const { read } = population.network;
  const { validators } = read.activeAgents();
  expect(() => Object.assign(read.networkState(), { block_height: 9 })).toThrow(TypeError);
  expect(() => validators.splice(0)).toThrow(TypeError);
  expect(read.activeAgents().validators).toHaveLength(1);
});
