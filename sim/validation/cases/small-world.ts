/** Small worlds: clustering and path lengths of the graphs that agents live on. */
import { Streams } from '../../rng.js';
import { completeScenario } from '../../scenario/read/complete.js';
import { graphOf } from '../../world/links/graph/graph.js';
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf } from '../interval.js';

type Graph = readonly (readonly number[])[];

const SIZE = 4_000;
const DEGREE = 10;

function graph(rewired: number, seed: string): Graph {
  const agents = [{ group: 'town', count: SIZE, producers: 1 }];
  const topology = { kind: 'small_world', degree: DEGREE, rewired };
  const scenario = completeScenario({ title: 'A graph', agents, topology });
  return graphOf(scenario, new Streams(seed).of('world', 'graph'));
}

/** Of all pairs of neighbours of one agent, the share that are neighbours themselves. */
function clustering(links: Graph): number {
  const sets = links.map((neighbours) => new Set(neighbours));
  let closed = 0;
  let pairs = 0;
  for (const neighbours of links) {
    for (const a of neighbours) for (const b of neighbours) if (sets[a]!.has(b)) closed += 1;
    pairs += neighbours.length * (neighbours.length - 1);
  }
  return closed / pairs;
}

/** Mean steps from the first agent to each other one. */
function pathLength(links: Graph): number {
  const steps = new Map([[0, 0]]);
  for (const [agent, far] of steps) {
    for (const other of links[agent]!) if (!steps.has(other)) steps.set(other, far + 1);
  }
  let sum = 0;
  for (const far of steps.values()) sum += far;
  return sum / (links.length - 1);
}

function clusteringRow(rewired: number, graphs: number): Row {
  const found = Array.from({ length: graphs }, (_, one) => clustering(graph(rewired, `${one}`)));
  const ring = (3 * (DEGREE - 2)) / (4 * (DEGREE - 1));
  // Rewired links come in at random: the more degrees vary, the more pairs there are to be linked.
  const pairs = DEGREE * (DEGREE - 1);
  const kept = 1 - rewired;
  const variance = (DEGREE / 2) * rewired * (2 - rewired);
  return {
    what: `${SIZE} agents, degree ${DEGREE}, ${rewired} rewired: clustering`,
    theory: (ring * kept * kept * kept * pairs) / (pairs + variance),
    measured: meanOf(found),
    interval: meanInterval(found),
    from: `${graphs} graphs`,
  };
}

/** On a ring, whoever is d seats away is d / (degree / 2) steps away, rounded up. */
function ringPath(): number {
  let sum = 0;
  for (let seat = 1; seat < SIZE; seat += 1) {
    sum += Math.ceil(Math.min(seat, SIZE - seat) / (DEGREE / 2));
  }
  return sum / (SIZE - 1);
}

async function rows(size: Size): Promise<Row[]> {
  const graphs = scaled(size, 5, 30);
  const ring = graph(0, '1');
  const whole = { interval: null, from: '1 graph' };
  return [
    {
      what: `${SIZE} agents on a ring of degree ${DEGREE}: clustering`,
      ...{ theory: (3 * (DEGREE - 2)) / (4 * (DEGREE - 1)), measured: clustering(ring), ...whole },
    },
    {
      what: `${SIZE} agents on a ring of degree ${DEGREE}: mean path`,
      ...{ theory: ringPath(), measured: pathLength(ring), ...whole },
    },
    ...[0.01, 0.1, 0.3].map((rewired) => clusteringRow(rewired, graphs)),
  ];
}

export const smallWorld: ValidationCase = {
  name: 'small-world',
  about:
    'A ring of degree k has the clustering 3(k - 2) / 4(k - 1). Rewiring a share p of its links ' +
    'leaves (1 - p)^3 of the triangles, among k(k - 1) + kp(2 - p)/2 pairs of neighbours of an ' +
    'agent, since degrees now have the variance kp(2 - p)/2; up to terms of 1/n.',
  source: 'Watts and Strogatz 1998, Nature 393; Barrat and Weigt 2000, Eur. Phys. J. B 13',
  rows,
};
