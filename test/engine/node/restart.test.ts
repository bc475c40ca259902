/** State that a restart must restore exactly. Each test compares with a network in memory. */
import { createVerifier, type GenesisOptions, Network, virtualClock } from 'folkmoot';
import { expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { newPopulation, Population } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** Runs actions in memory, and in a folder with a restart in between, and compares the digests. */
async function expectNoTrace(
  genesis: Partial<GenesisOptions>,
  before: (population: Population) => Promise<void>,
  after: (population: Population) => Promise<void>,
): Promise<void> {
  const memory = await newPopulation({ genesis });
  await before(memory);
  await after(memory);
  const path = temporaryFolder();
  const clock = virtualClock(START_MS);
  const verifier = createVerifier('off');
  const open = () =>
    Network.open({ path, genesis: { network_id: 'devnet', ...genesis }, verifier, clock });
  const submitTo =
    (network: Network): Population['submit'] =>
    async (request) => {
      const verified = await network.verify(request);
      if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
      return network.submit(verified);
    };
  const first = await open();
  const population = new Population({ network: first, clock, submit: submitTo(first) }, 'off');
  await before(population);
  await first.close();
  const second = await open();
  await after(population.moved({ network: second, clock, submit: submitTo(second) }));
  const { epoch: _, ...end } = second.read.position;
  await second.close();
  expect(memory.network.read.position).toMatchObject(end);
}

test('restart: fires a deadline that passed while the network was closed', () =>
  expectNoTrace(
    {},
    async (population) => {
      await population.open(await population.join(both));
    },
    (population) => population.at(30_001),
  ));

test.each([
  'bft',
  'majority',
  'veto',
] as const)('restart: %s restores the rejection of a whole personality', (policy) =>
  expectNoTrace(
    { policy },
    async (population) => {
      const chaotic = await population.joinMany(3, both, { personality: 'chaotic' });
      await population.joinMany(17, both);
      await population.votes(chaotic, await population.open(chaotic[0]!), 'reject');
    },
    (population) => population.at(30_001),
  ));

test.each([
  'equal',
  'reputation',
  'alliance_bonus',
] as const)('restart: restores an electorate with weights %s', (weights) =>
  expectNoTrace(
    { weights },
    async (population) => {
      const [ada, bob, cem] = await population.joinMany(4, both);
      await population.allied(ada!, [bob!]);
      await population.votes([ada!, bob!, cem!], await population.open(ada!), 'approve');
      await population.open(bob!);
    },
    async (population) => {
      await population.open(population.citizens[0]!);
    },
  ));

test('restart: emits metrics until the rate is zero', () =>
  expectNoTrace(
    {},
    async (population) => {
      const ada = await population.join(both);
      const transactions = [population.transaction(ada, 'one')];
      await population.vote(ada, await population.open(ada, { transactions }));
      await population.at(59_000);
    },
    (population) => population.at(120_000),
  ));

test('restart: an invitation lapses and an alliance expires', () =>
  expectNoTrace(
    {},
    async (population) => {
      const [ada, bob, cem] = await population.joinMany(3, both);
      await population.allied(ada!, [bob!], { duration: 'PT1M' });
      await population.ally(bob!, [cem!]);
    },
    (population) => population.at(60_001),
  ));
