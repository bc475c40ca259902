/** Social graphs: the topologies of scenarios. */
import { completeScenario } from 'folkmoot/sim';
import { Streams } from '../../../../dist/sim/rng.js';
import { buildGraph } from '../../../../dist/sim/world/graph.js';

type Topology = { kind: string; degree?: number; rewired?: number; probability?: number };

function drawn(topology: Topology, counts: number[], seed = 'graph'): number[][] {
  const agents = counts.map((count, index) => ({ group: `g${index}`, count, producers: 1 }));
  const scenario = completeScenario({ title: 'a graph', agents, topology });
  return buildGraph(scenario, new Streams(seed).of('world', 'graph'));
}

const meanDegree = (graph: number[][]) =>
  graph.reduce((sum, neighbours) => sum + neighbours.length, 0) / graph.length;

function expectMutual(graph: number[][]): void {
  for (const [agent, neighbours] of graph.entries()) {
    expect(neighbours).toEqual([...new Set(neighbours)].sort((a, b) => a - b));
    for (const other of neighbours) expect(graph[other]).toContain(agent);
  }
}

/** Number of agents that can be reached from the first. */
function reached(graph: number[][]): number {
  const seen = new Set([0]);
  for (const agent of seen) for (const other of graph[agent]!) seen.add(other);
  return seen.size;
}

describe.each([
  ['ring', [60, 40]],
  ['small_world', [60, 40]],
  ['scale_free', [60, 40]],
  ['groups', [60, 40]],
])('topology: %s', (kind, counts) => {
  const graph = drawn({ kind, degree: 8, rewired: 0.2 }, counts);

  test('links are mutual, without self-links, and connect all agents', () => {
    expectMutual(graph);
    for (const [agent, neighbours] of graph.entries()) expect(neighbours).not.toContain(agent);
    expect(reached(graph)).toBe(100);
  });

  test('has about the requested mean degree', () => {
    expect(meanDegree(graph)).toBeGreaterThan(7.4);
    expect(meanDegree(graph)).toBeLessThanOrEqual(8);
  });

  test('gives the same graph for the same seed', () => {
    expect(drawn({ kind, degree: 8, rewired: 0.2 }, counts)).toEqual(graph);
    expect(drawn({ kind, degree: 8, rewired: 0.2 }, counts, 'other')).not.toEqual(graph);
  });
});

test('topology ring: all agents have the same degree, in one group or two', () => {
  for (const counts of [[30], [10, 20]]) {
    const graph = drawn({ kind: 'ring', degree: 6 }, counts);
    expect(new Set(graph.map(({ length }) => length))).toEqual(new Set([6]));
  }
});

test('topology small_world: rewired keeps full precision', () => {
  // 100,000 links, of which 40 are expected to be rewired. In thousandths the rate would be zero.
  const size = 20_000;
  const graph = drawn({ kind: 'small_world', degree: 10, rewired: 0.0004 }, [size]);
  const ends = graph.flatMap((neighbours, agent) =>
    neighbours.filter((o) => Math.min((o - agent + size) % size, (agent - o + size) % size) > 5),
  );
  expect(Math.abs(ends.length / 2 - 40)).toBeLessThan(4 * Math.sqrt(40));
});

test('topology complete: each agent hears every other', () => {
  const graph = drawn({ kind: 'complete' }, [30]);
  expectMutual(graph);
  for (const [own, neighbours] of graph.entries()) {
    expect(neighbours).toHaveLength(29);
    expect(neighbours).not.toContain(own);
  }
});

test.each([0, 0.1, 0.5])('topology groups: %d of the links leave a group', (rewired) => {
  const graph = drawn({ kind: 'groups', degree: 8, rewired }, [100, 100]);
  const ends = graph.flatMap((neighbours, agent) =>
    neighbours.map((other) => agent < 100 !== other < 100),
  );
  const leaving = ends.filter((leaves) => leaves).length / ends.length;
  expect(Math.abs(leaving - rewired)).toBeLessThan(0.06);
  expect(meanDegree(graph)).toBeGreaterThan(7.4);
});

test('topology: accepts groups of one, and degrees above the size', () => {
  for (const kind of ['ring', 'small_world', 'scale_free', 'groups']) {
    expectMutual(drawn({ kind, degree: 20, rewired: 0.5 }, [1, 3, 2]));
    expectMutual(drawn({ kind, degree: 2 }, [1]));
  }
});
