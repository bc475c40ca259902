/** Shipped and drawn scenarios give the same results with and without a log. */
import { loadScenario, shippedScenarios } from 'folkmoot/sim';
import { draw } from '../../../dist/sim/swarm/draw.js';
import { counts } from '../../support/counts.js';
import { bothWays, lasting } from './unrecorded.js';

test.each(shippedScenarios())('unrecorded: $name gives the same result', async ({ name }) => {
  const { scenario, folder } = loadScenario(name);
  const [recorded, unrecorded] = await bothWays(scenario, { folder });
  expect(lasting(unrecorded)).toEqual(lasting(recorded));
  expect(recorded.trace_digest).toMatch(/^[0-9a-f]{16}$/);
});

const first = 40_001;
const numbers = Array.from({ length: counts.unrecordedRuns }, (_, index) => first + index);

test.each(numbers)('unrecorded: drawn scenario %i gives the same result', async (number) => {
  const { scenario } = draw(number);
  const [recorded, unrecorded] = await bothWays(scenario);
  expect(lasting(unrecorded)).toEqual(lasting(recorded));
});
