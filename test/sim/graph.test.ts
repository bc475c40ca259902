/** Social graphs and latencies: the shapes and distributions that scenarios name. */
import { completeScenario } from 'folkmoot/sim';
import { describe, expect, test } from 'vitest';
import { mix, Streams } from '../../dist/sim/rng.js';
import { graphOf } from '../../dist/sim/world/links/graph.js';
import { latencyOf, shortestMs } from '../../dist/sim/world/links/latency.js';

type Topology = { kind: string; degree?: number; rewired?: number };

function drawn(topology: Topology, counts: number[], seed = 'graph'): number[][] {
  const agents = counts.map((count, index) => ({ group: `g${index}`, count, producers: 1 }));
  const scenario = completeScenario({ title: 'a graph', agents, topology });
  return graphOf(scenario, new Streams(seed).of('world', 'graph'));
}

const meanDegree = (graph: number[][]) =>
  graph.reduce((sum, neighbours) => sum + neighbours.length, 0) / graph.length;

function expectMutual(graph: number[][]): void {
  for (const [agent, neighbours] of graph.entries()) {
    expect(neighbours).toEqual([...new Set(neighbours)].sort((a, b) => a - b));
    for (const other of neighbours) expect(graph[other]).toContain(agent);
  }
}

/** How many can be reached from the first. */
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

  test('links are mutual, nobody is linked to itself, and all hang together', () => {
    expectMutual(graph);
    for (const [agent, neighbours] of graph.entries()) expect(neighbours).not.toContain(agent);
    expect(reached(graph)).toBe(100);
  });

  test('the mean degree is about the one asked for', () => {
    expect(meanDegree(graph)).toBeGreaterThan(7.4);
    expect(meanDegree(graph)).toBeLessThanOrEqual(8);
  });

  test('one seed draws one graph', () => {
    expect(drawn({ kind, degree: 8, rewired: 0.2 }, counts)).toEqual(graph);
    expect(drawn({ kind, degree: 8, rewired: 0.2 }, counts, 'other')).not.toEqual(graph);
  });
});

test('topology ring: everybody has the same degree, also in one group', () => {
  for (const counts of [[30], [10, 20]]) {
    const graph = drawn({ kind: 'ring', degree: 6 }, counts);
    expect(new Set(graph.map(({ length }) => length))).toEqual(new Set([6]));
  }
});

test('topology complete: everybody hears everybody', () => {
  const graph = drawn({ kind: 'complete' }, [30]);
  expectMutual(graph);
  for (const neighbours of graph) expect(neighbours).toHaveLength(30);
});

test('topology scale_free: a few have many links', () => {
  const graph = drawn({ kind: 'scale_free', degree: 6 }, [300]);
  const degrees = graph.map(({ length }) => length).sort((a, b) => b - a);
  expect(degrees[0]).toBeGreaterThan(30);
  expect(degrees[150]).toBeLessThan(6);
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

test('topology: groups of one, and degrees above the size', () => {
  for (const kind of ['ring', 'small_world', 'scale_free', 'groups']) {
    expectMutual(drawn({ kind, degree: 20, rewired: 0.5 }, [1, 3, 2]));
    expectMutual(drawn({ kind, degree: 2 }, [1]));
  }
});

describe('latency', () => {
  const draws = 20_000;
  const drawnFrom = (distribution: string, mean_ms: number, spread_ms: number) => {
    const latency = { distribution, mean_ms, spread_ms } as Parameters<typeof latencyOf>[0];
    const draw = latencyOf(latency);
    const values = Array.from({ length: draws }, (_, number) => draw(mix(17, number)));
    const mean = values.reduce((sum, value) => sum + value, 0) / draws;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / draws;
    return { values, mean, deviation: Math.sqrt(variance), shortest: shortestMs(latency) };
  };

  test.each([
    ['constant', 0],
    ['uniform', 100 / Math.sqrt(3)],
    ['normal', 100],
    ['exponential', 100],
  ])('%s: has the mean and the spread asked for', (distribution, deviation) => {
    const found = drawnFrom(distribution, 500, 100);
    expect(Math.abs(found.mean - 500)).toBeLessThan(5);
    expect(Math.abs(found.deviation - deviation)).toBeLessThan(5);
    expect(Math.min(...found.values)).toBeGreaterThanOrEqual(found.shortest);
    expect(found.values.every((value) => Number.isInteger(value))).toBe(true);
  });

  test.each(['constant', 'uniform', 'normal', 'exponential'])('%s: never under 10 ms', (name) => {
    for (const spread of [0, 5, 1_000]) {
      const { values, shortest } = drawnFrom(name, 1, spread);
      expect(Math.min(...values)).toBe(10);
      expect(shortest).toBe(10);
    }
  });
});
