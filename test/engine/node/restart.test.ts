/** What a restart must bring back exactly: each test goes through one that memory never sees. */
import { createVerifier, type GenesisOptions, Network, virtualClock } from 'folkmoot';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/fixture.js';
import { foundTown, START_MS, Town } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** Does the same in memory and in a folder that is closed and opened in between: digests agree. */
async function expectNoTrace(
  genesis: Partial<GenesisOptions>,
  before: (town: Town) => Promise<void>,
  after: (town: Town) => Promise<void>,
): Promise<void> {
  const memory = await foundTown({ genesis });
  await before(memory);
  await after(memory);
  const path = temporaryFolder();
  const clock = virtualClock(START_MS);
  const verifier = createVerifier('off');
  const open = () =>
    Network.open({ path, genesis: { network_id: 'devnet', ...genesis }, verifier, clock });
  const submitTo =
    (network: Network): Town['submit'] =>
    async (request) => {
      const verified = await network.verify(request);
      if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
      return network.submit(verified);
    };
  const first = await open();
  const town = new Town({ network: first, clock, submit: submitTo(first) }, 'off');
  await before(town);
  await first.close();
  const second = await open();
  await after(town.moved({ network: second, clock, submit: submitTo(second) }));
  const { epoch: _, ...end } = second.read.position;
  await second.close();
  expect(memory.network.read.position).toMatchObject(end);
}

test('restart: a deadline that passed meanwhile fires after it', () =>
  expectNoTrace(
    {},
    async (town) => {
      await town.open(await town.join(both));
    },
    (town) => town.at(30_001),
  ));

test.each([
  'bft',
  'majority',
  'veto',
] as const)('restart: %s goes on where a whole personality has rejected', (policy) =>
  expectNoTrace(
    { policy },
    async (town) => {
      const chaotic = await town.joinMany(3, both, { personality: 'chaotic' });
      await town.joinMany(17, both);
      await town.votes(chaotic, await town.open(chaotic[0]!), 'reject');
    },
    (town) => town.at(30_001),
  ));

test.each([
  'equal',
  'reputation',
  'alliance_bonus',
] as const)('restart: an electorate with weights %s is taken up again', (weights) =>
  expectNoTrace(
    { weights },
    async (town) => {
      const [ada, bob, cem] = await town.joinMany(4, both);
      await town.allied(ada!, [bob!]);
      await town.votes([ada!, bob!, cem!], await town.open(ada!), 'approve');
      await town.open(bob!);
    },
    async (town) => {
      await town.open(town.citizens[0]!);
    },
  ));

test('restart: metrics go on until the rate is zero', () =>
  expectNoTrace(
    {},
    async (town) => {
      const ada = await town.join(both);
      const transactions = [town.transaction(ada, 'one')];
      await town.vote(ada, await town.open(ada, { transactions }));
      await town.at(59_000);
    },
    (town) => town.at(120_000),
  ));

test('restart: an invitation still lapses and an alliance still expires', () =>
  expectNoTrace(
    {},
    async (town) => {
      const [ada, bob, cem] = await town.joinMany(3, both);
      await town.allied(ada!, [bob!], { duration: 'PT1M' });
      await town.ally(bob!, [cem!]);
    },
    (town) => town.at(60_001),
  ));
