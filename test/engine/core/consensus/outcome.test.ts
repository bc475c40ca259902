/** Closing blocks: thresholds, exact deadlines, siblings and effects. */
import { openLmdbStore, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant, START_MS } from '../../../support/citizens.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { newPopulation } from '../../helpers.js';

const both = ['validator', 'producer'] as const;

test('deadline: logs the tick one millisecond after the deadline', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  const ada = await population.join(both);
  await population.open(ada);
  await population.at(500_000);
  await population.network.close();
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const entries = [...storedLines(store, 0, 99)].map(({ entry }) => [entry.kind, entry.at]);
  await store.close();
  expect(entries).toEqual([
    ['genesis', START_MS],
    ['register', START_MS],
    ['propose', START_MS],
    ['tick', START_MS + 30_001],
  ]);
});

test('deadline: events of a tick have the time of its entry', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const hash = await population.open(ada);
  const mark = population.mark();
  await population.at(500_000);
  const timestamp = instant(30_001);
  expect(population.told('block_status', mark)).toMatchObject([{ block_hash: hash, timestamp }]);
  expect(population.told('network_metrics', mark)).toMatchObject([{ timestamp }]);
  expect(population.network.read.block(hash)?.closed_at).toBe(timestamp);
});

test('deadline: follows the voting period of genesis', async () => {
  const population = await newPopulation({ genesis: { voting_period_ms: 1 } });
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.at(1);
  expect(population.blockStatus(hash)).toBe('voting');
  await population.at(2);
  expect(population.blockStatus(hash)).toBe('expired');
});
