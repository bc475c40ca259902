/** The series of the tables keeps a bounded number of instants. */
import { newPopulation } from '../../engine/helpers.js';
import { START_MS } from '../../support/citizens.js';
import { agentsIn, collect } from './fixture.js';

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
