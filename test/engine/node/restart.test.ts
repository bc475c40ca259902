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
