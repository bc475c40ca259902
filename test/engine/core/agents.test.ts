/** Registration, status and memes: duplicates, replays, owners, quotas. */
import { composeRegister, composeStatus, type Registration } from 'folkmoot';
import {
  answerOf,
  expectRefused,
  newPopulation,
  type Population,
  populated,
  word,
} from '../helpers.js';

const data: Registration = {
  personality: 'lawful',
  name: 'Ada',
  capabilities: ['validator', 'producer'],
};

/** Expects no change after a refused or duplicate request. */
async function expectNoTrace(population: Population, act: () => Promise<void>): Promise<void> {
  const before = population.network.read.position;
  await act();
  expect(population.network.read.position).toEqual(before);
}

populated('register: treats the same data in any form as a duplicate', async (population) => {
  const key = population.key();
  const first = answerOf<'register'>(
    await population.submit(composeRegister(key, population.stamp(), data)),
  );
  await population.wait(60_000);
  await expectNoTrace(population, async () => {
    const same: Registration[] = [
      data,
      { ...data, description: '' },
      { ...data, personality: 'LAWFUL' },
      { ...data, capabilities: ['producer', 'validator'] },
    ];
    for (const fields of same) {
      expect(await population.submit(composeRegister(key, population.stamp(), fields))).toEqual({
        result: 'duplicate',
        data: { ...first, duplicate: true },
      });
    }
  });
});

test.each([
  ['an earlier timestamp', '2024-12-31T23:59:59.999Z'],
  ['the same instant', '2025-01-01T01:00:00+01:00'],
  ['the same millisecond', '2025-01-01T00:00:00.0009Z'],
])('status: refuses %s as a replay', async (_, timestamp) => {
  const population = await newPopulation();
  const ada = await population.join();
  const at = (stamp: string, status: 'active' | 'inactive') =>
    population.submit(composeStatus(ada, stamp, ada.id, { status }));
  await at('2025-01-01T00:00:00.000Z', 'inactive');
  await expectNoTrace(population, async () => {
    expectRefused(await at(timestamp, 'active'), 'REPLAYED');
  });
  expect(word(await at('2025-01-01T00:00:00.001Z', 'active'))).toBe('accepted');
});

populated('status: refuses a repeated timestamp of 1970 as a replay', async (population) => {
  const ada = await population.join();
  const at = (stamp: string, status: 'active' | 'inactive') =>
    population.submit(composeStatus(ada, stamp, ada.id, { status }));
  await at('1970-01-01T00:00:00Z', 'inactive');
  expect(word(await at('1970-01-01T00:00:00Z', 'active'))).toBe('REPLAYED');
});
