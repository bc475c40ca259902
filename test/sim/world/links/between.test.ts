/** Latency by sender and receiver: groups, regions, the network; and invalid entries. */
import { completeScenario, simulate } from 'folkmoot/sim';
import { Faults } from '../../../../dist/sim/world/faults.js';
import { Links, NETWORK } from '../../../../dist/sim/world/links.js';

const constant = (mean_ms: number) => ({ distribution: 'constant', mean_ms });

/** Ordinals: a is 0 and 1, b is 2 and 3, c is 4. Groups b and c are in one region. */
function scenarioWith(between: object[]) {
  return completeScenario({
    title: 't',
    agents: [
      { group: 'a', count: 2, producers: 1 },
      { group: 'b', count: 2, region: 'south' },
      { group: 'c', count: 1, region: 'south' },
    ],
    links: { latency: constant(40), between },
    length: { blocks: 2 },
  });
}

function linksWith(between: object[]) {
  const scenario = scenarioWith(between);
  const links = new Links(scenario, { traces: new Map() }, new Faults(scenario, '1', 0));
  return { links, ms: (from: number, to: number) => links.arrival(7, from, to, 1_000) - 1_000 };
}

test('between: applies to groups in both directions, within, or in one direction', () => {
  const { ms } = linksWith([
    { from: 'a', to: 'b', latency: constant(100) },
    { from: 'c', to: 'a', one_way: true, latency: constant(300) },
    { from: 'b', to: 'b', latency: constant(15) },
  ]);
  expect([ms(0, 2), ms(3, 1), ms(2, 3)]).toEqual([100, 100, 15]);
  expect([ms(4, 1), ms(1, 4)]).toEqual([300, 40]);
  expect([ms(0, 1), ms(2, 4), ms(0, NETWORK), ms(NETWORK, 3)]).toEqual([40, 40, 40, 40]);
});

test('between: accepts regions and the network as endpoints, and the last match wins', () => {
  const { ms } = linksWith([
    { from: 'south', to: 'a', latency: constant(200) },
    { from: 'network', to: 'south', latency: constant(90) },
    { from: 'c', to: 'network', latency: constant(70) },
  ]);
  expect([ms(2, 0), ms(0, 4), ms(4, 1)]).toEqual([200, 200, 200]);
  expect([ms(2, NETWORK), ms(NETWORK, 3), ms(4, NETWORK), ms(0, NETWORK)]).toEqual([
    90, 90, 70, 40,
  ]);
});

test('between: the shortest latency bounds the window', () => {
  expect(linksWith([]).links.windowMs).toBe(40);
  expect(linksWith([{ from: 'a', to: 'c', latency: constant(12) }]).links.windowMs).toBe(12);
  expect(linksWith([{ from: 'a', to: 'c', latency: constant(500) }]).links.windowMs).toBe(40);
});

test('between: uses the defaults without a latency', async () => {
  const scenario = scenarioWith([{ from: 'a', to: 'south' }]);
  const defaults = { distribution: 'uniform', mean_ms: 200, spread_ms: 100 };
  expect(scenario.links.between).toEqual([
    { from: 'a', to: 'south', one_way: false, latency: defaults },
  ]);
  expect((await simulate(scenario, { store: 'memory' })).verdict).toBe('pass');
});

test.each([
  [
    { from: 'a', to: 'nowhere' },
    /links.between.0.to is nowhere; expected one of a, b, south, c, network/,
  ],
  [{ from: 'x', to: 'a' }, /links.between.0.from is x; expected one of/],
  [{ from: 'a' }, /links.between.0.to is missing;/],
  [{ from: 'a', to: 'b', latency: { shape: 2 } }, /0.latency.shape .*distribution pareto/],
  [{ from: 'a', to: 'b', latency: { distribution: 'empirical' } }, /0.latency.file is missing;/],
])('between: rejects %o', (entry, message) => {
  expect(() => scenarioWith([entry])).toThrow(message);
});
