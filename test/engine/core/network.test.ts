import { type Citizen, instant } from '../../support/citizens.js';
import { answerOf, newPopulation, type Population, populated, word } from '../helpers.js';

const both = ['validator', 'producer'] as const;
/** Options without a dormancy limit, which voting.test.ts covers. */
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

populated('network: pending_transactions counts those of open blocks', async (population) => {
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

populated('network: network_tps covers the last minute, with two decimals', async (population) => {
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

populated('network: writes nothing while idle or with empty blocks', async (population) => {
  const ada = await population.join(both);
  await finalize(population, ada, 0);
  const before = population.network.read.position;
  expect(population.network.nextDeadline()).toBeNull();
  await population.at(3_600_000);
  expect(population.network.read.position).toEqual(before);
});

populated('network: lists active agents by ascending id and by capability', async (population) => {
  const citizens = [...(await population.joinMany(3, both)), await population.join(['producer'])];
  await population.status(citizens[0]!, 'maintenance');
  const { validators, producers } = population.network.read.activeAgents();
  const ids = (list: readonly Citizen[]) => list.map(({ id }) => id).sort();
  expect(validators.map(({ id }) => id)).toEqual(ids(citizens.slice(1, 3)));
  expect(producers.map(({ id }) => id)).toEqual(ids(citizens.slice(1)));
  expect(population.network.read.networkState()).toMatchObject({
    ...{ active_validators: 2, active_producers: 3, network_id: 'devnet', server_time: instant(0) },
  });
});

populated('reads: shared responses are frozen', async (population) => {
  await population.join();
  const { read } = population.network;
  const { validators } = read.activeAgents();
  expect(() => Object.assign(read.networkState(), { block_height: 9 })).toThrow(TypeError);
  expect(() => validators.splice(0)).toThrow(TypeError);
  expect(read.activeAgents().validators).toHaveLength(1);
});

// ---- The policies majority and veto, and all weights.

const majority = { genesis: { policy: 'majority' as const } };

/** Runs a block with given numbers of electors, approvals and rejections. */
async function poll(population: Population, electors: number, approve: number, reject: number) {
  const voters = await population.joinMany(electors, both);
  const hash = await population.open(voters[0]!);
  await population.votes(voters.slice(0, approve), hash, 'approve');
  await population.votes(voters.slice(approve, approve + reject), hash, 'reject');
  return { hash, voters };
}

test('majority: `needed` is the smallest finalizing weight', async () => {
  const population = await newPopulation(majority);
  const { hash, voters } = await poll(population, 10, 0, 1);
  const needed = async (voter: Citizen, decision: 'approve' | 'reject') =>
    answerOf<'vote'>(await population.vote(voter, hash, decision)).tally.needed;
  expect([await needed(voters[1]!, 'reject'), await needed(voters[2]!, 'reject')]).toEqual([3, 4]);
  expect(await needed(voters[3]!, 'approve')).toBe(4);
});

test('veto: a unanimous rejection of a personality of three rejects the block', async () => {
  const population = await newPopulation({ genesis: { policy: 'veto' } });
  const chaotic = await population.joinMany(3, both, { personality: 'chaotic' });
  await population.joinMany(17, both);
  const hash = await population.open(chaotic[0]!);
  await population.votes(chaotic.slice(0, 2), hash, 'reject');
  expect(population.blockStatus(hash)).toBe('voting');
  await population.vote(chaotic[2]!, hash, 'reject');
  expect(population.blockStatus(hash)).toBe('rejected');
});

test('weights: reputation counts whole points, 50 at first and at least 1', async () => {
  const population = await newPopulation({ genesis: { weights: 'reputation', dormant_after: 0 } });
  const [ada, bob] = await population.joinMany(7, both);
  const hashes = [await population.open(ada!), await population.open(bob!)];
  expect(population.network.read.block(hashes[0]!)?.tally.electorate).toBe(350);
  for (const hash of hashes) await population.votes([ada!], hash, 'approve');
  await population.vote(ada!, hashes[0]!, 'reject');
  await population.at(30_001);
  const lower = await population.open(ada!);
  expect(population.network.read.block(lower)?.tally.electorate).toBe(325);
  await population.vote(ada!, hashes[1]!, 'reject');
  await population.at(60_002);
  const lowest = await population.open(ada!);
  expect(population.network.read.block(lowest)?.tally.electorate).toBe(301);
});

test('weights: alliance_bonus adds two for each allied elector, at most ten', async () => {
  const population = await newPopulation({ genesis: { weights: 'alliance_bonus' } });
  const voters = await population.joinMany(9, both);
  const weight = async (by: Citizen) =>
    answerOf<'propose'>(await population.propose(by)).electorate;
  expect(await weight(voters[0]!)).toBe(900);
  await population.allied(voters[0]!, [voters[1]!, voters[2]!]);
  expect(await weight(voters[1]!)).toBe(900 + 3 * 4);
  await population.allied(voters[0]!, voters.slice(2, 8));
  // The first agent has 7 allies (10 points at most), the second still 2, the third 7, and five
  // more agents 6 each.
  expect(await weight(voters[2]!)).toBe(900 + 10 + 4 + 10 + 5 * 10);
});
