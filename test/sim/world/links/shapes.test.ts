/** Social graphs against theory: degrees, clustering and path lengths. */
import { completeScenario } from 'folkmoot/sim';
import { Streams } from '../../../../dist/sim/rng.js';
import { buildGraph } from '../../../../dist/sim/world/graph.js';

type Graph = number[][];

function drawn(topology: object, size: number, seed: number): Graph {
  const agents = [{ group: 'all', count: size, producers: 1 }];
  const scenario = completeScenario({ title: 'a graph', agents, topology });
  return buildGraph(scenario, new Streams(`shape ${seed}`).of('world', 'graph'));
}

const linksOf = (graph: Graph) => graph.reduce((sum, { length }) => sum + length, 0) / 2;

/** Mean path length from a sample of agents to all others. */
function pathLength(graph: Graph, starts: number): number {
  let [sum, pairs] = [0, 0];
  for (let start = 0; start < graph.length; start += Math.ceil(graph.length / starts)) {
    const steps = new Map([[start, 0]]);
    for (const [agent, far] of steps) {
      for (const next of graph[agent]!) if (!steps.has(next)) steps.set(next, far + 1);
    }
    for (const far of steps.values()) sum += far;
    pairs += steps.size - 1;
  }
  return sum / pairs;
}

describe('small_world (Watts and Strogatz 1998)', () => {
  const size = 4_000;
  const degree = 10;

  test.each([0, 0.001, 0.01, 0.1, 0.3, 1])('has n k / 2 links at rewiring %d', (rewired) => {
    expect(linksOf(drawn({ kind: 'small_world', degree, rewired }, size, 1))).toBe(20_000);
  });

  test('degree: is at least k / 2', () => {
    const graph = drawn({ kind: 'small_world', degree, rewired: 1 }, size, 2);
    expect(Math.min(...graph.map(({ length }) => length))).toBeGreaterThanOrEqual(degree / 2);
  });

  test('path length: is n / 2k for the ring, and near ln n / ln k if fully rewired', () => {
    const length = (rewired: number) =>
      pathLength(drawn({ kind: 'small_world', degree, rewired }, size, 3), 40);
    const ring = length(0);
    expect(Math.abs(ring / (size / (2 * degree)) - 1)).toBeLessThan(0.01);
    const random = length(1);
    expect(Math.abs(random / (Math.log(size) / Math.log(degree)) - 1)).toBeLessThan(0.15);
    // Small world: few rewired links, and paths nearly as short as in a random graph.
    expect(length(0.01)).toBeLessThan(ring / 8);
    expect(length(0.1)).toBeLessThan(1.6 * random);
  });
});

describe('scale_free (Barabasi and Albert 1999)', () => {
  const size = 20_000;
  const m = 3;
  const graph = drawn({ kind: 'scale_free', degree: 2 * m }, size, 1);
  const degrees = graph.map(({ length }) => length);

  test('links: each agent after the clique of the first m + 1 adds m', () => {
    expect(linksOf(graph)).toBe((m * (m + 1)) / 2 + m * (size - m - 1));
    expect(Math.min(...degrees)).toBe(m);
  });

  // Dorogovtsev, Mendes and Samukhin 2000: P(K >= k) = m (m + 1) / k (k + 1), exact for large n.
  test.each([4, 6, 10, 20, 40])('degree: the share of %d and above equals P(K >= k)', (k) => {
    const share = (m * (m + 1)) / (k * (k + 1));
    const found = degrees.filter((degree) => degree >= k).length;
    expect(Math.abs(found / size / share - 1), `${found}`).toBeLessThan(
      0.03 + 4 / Math.sqrt(found),
    );
  });

  test('exponent: is 3 by the maximum likelihood of Clauset, Shalizi and Newman (2009)', () => {
    const tail = degrees.filter((degree) => degree >= 15);
    const sum = tail.reduce((total, degree) => total + Math.log(degree / 14.5), 0);
    expect(Math.abs(1 + tail.length / sum - 3)).toBeLessThan(0.2);
  });
});

describe('erdos_renyi', () => {
  const size = 3_000;

  test.each([
    ['by its mean degree', { degree: 7 }, 7 / (size - 1)],
    ['by its probability', { probability: 0.01, degree: 2 }, 0.01],
  ])('links and degrees are binomial, %s', (_, how, probability) => {
    for (const seed of [1, 2, 3]) {
      const graph = drawn({ kind: 'erdos_renyi', ...how }, size, seed);
      const pairs = (size * (size - 1)) / 2;
      const most = 4 * Math.sqrt(pairs * probability * (1 - probability));
      expect(Math.abs(linksOf(graph) - pairs * probability)).toBeLessThan(most);
      const mean = (2 * linksOf(graph)) / size;
      const variance = graph.reduce((sum, { length }) => sum + (length - mean) ** 2, 0) / size;
      const expected = (size - 1) * probability * (1 - probability);
      expect(Math.abs(variance / expected - 1)).toBeLessThan(4 * Math.sqrt(2 / size) + 0.02);
    }
  });

  test('links each pair with the same probability', () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 2_000; seed += 1) {
      const graph = drawn({ kind: 'erdos_renyi', probability: 0.3 }, 10, seed);
      for (const [a, all] of graph.entries()) {
        for (const b of all.filter((other) => other < a)) {
          counts.set(`${b}-${a}`, (counts.get(`${b}-${a}`) ?? 0) + 1);
        }
      }
    }
    expect(counts.size).toBe(45);
    for (const count of counts.values()) {
      expect(Math.abs(count - 600)).toBeLessThan(4.4 * Math.sqrt(420));
    }
  });

  test('accepts probability 0, 1 and nearly 0', () => {
    expect(linksOf(drawn({ kind: 'erdos_renyi', probability: 0 }, 100, 1))).toBe(0);
    expect(linksOf(drawn({ kind: 'erdos_renyi', probability: 1 }, 100, 1))).toBe(4_950);
    expect(linksOf(drawn({ kind: 'erdos_renyi', probability: 1e-300 }, 100, 1))).toBe(0);
    expect(linksOf(drawn({ kind: 'erdos_renyi' }, 1, 1))).toBe(0);
    expect(linksOf(drawn({ kind: 'erdos_renyi', degree: 1_000 }, 20, 1))).toBe(190);
  });
});
