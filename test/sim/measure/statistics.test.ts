/** Percentiles and the Gini coefficient of the tables, on runs that are easy to count. */
import { newPopulation } from '../../engine/helpers.js';
import { START_MS } from '../../support/citizens.js';
import { agentsIn, collect, eventsOf, timeOf } from './fixture.js';

/** A run in which one voter decides; block n is final after 10 n milliseconds. */
async function ladder(blocks: number) {
  const town = await newPopulation();
  const [only] = await town.joinMany(1, ['validator', 'producer']);
  for (let index = 1; index <= blocks; index += 1) {
    const hash = await town.open(only!);
    await town.wait(10 * index);
    await town.vote(only!, hash, 'approve');
  }
  return town;
}

test('percentiles: use the nearest rank, in any order of values', async () => {
  const town = await ladder(20);
  const { collector } = collect(['all'], agentsIn(['all']));
  for (const event of eventsOf(town.network)) collector.event(event, timeOf(event));
  const { measures } = collector.finish(town.network.read, START_MS + town.now);
  expect(measures).toMatchObject({
    ...{ finality_mean_ms: 105, finality_p50_ms: 100, finality_p95_ms: 190, finality_p99_ms: 200 },
  });
});

test('series: a long run keeps a bounded number of evenly spaced instants', async () => {
  const town = await newPopulation();
  const { collector } = collect(['all'], agentsIn(['all']), 100);
  const { tables } = collector.finish(town.network.read, START_MS + 30 * 86_400_000);
  const times = [...tables['series.csv']]
    .filter(({ measure }) => measure === 'votes')
    .map((row) => row.t_ms as number);
  const spacing = times[1]! - times[0]!;
  expect(times.length).toBeLessThanOrEqual(20_001);
  expect(times.length).toBeGreaterThan(9_999);
  expect(times.slice(0, -1).every((time, index) => time === index * spacing)).toBe(true);
  expect(times.at(-1)).toBe(30 * 86_400_000);
});
