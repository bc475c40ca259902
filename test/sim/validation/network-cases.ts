/**
 * Cases about the network: gossip, latencies, uplinks, small worlds, partitions, crashes, and the
 * number of messages of a block.
 */

import jstat from 'jstat';
import { Streams } from '../../../dist/sim/rng.js';
import { simulate } from '../../../dist/sim/run/simulate.js';
import { completeScenario } from '../../../dist/sim/scenario/complete.js';
import type { Scenario } from '../../../dist/sim/scenario/schema/scenario.js';
import { buildGraph } from '../../../dist/sim/world/graph.js';
import type { MessageKind } from '../../../dist/sim/world/messages.js';
import {
  approving,
  type BlockRow,
  bftQuorum,
  blocksOf,
  exactRow,
  finalizedOf,
  meanOf,
  meanRow,
  measuresOf,
  type Row,
  type Size,
  scaled,
  shareRow,
  type ValidationCase,
  votesOf,
} from './case.js';

const SEATS = 41;

/** One agent posts a meme about each block; all others only pass it on. */
function ring(thinkMs: number, latencyMs: number, blocks: number) {
  const traits = { ...approving, remarks: 0, think_ms: thinkMs };
  return {
    agents: [
      { group: 'poster', count: 1, producers: 1, traits: { ...traits, care: 1, memes: 1 } },
      { group: 'others', count: SEATS - 1, traits: { ...traits, memes: 0 } },
    ],
    producers: { schedule: 'round_robin', block_interval_ms: 3 * thinkMs + 60_000, memes: 0 },
    social: { ...ringSocial, memes: { rate: 1 } },
    topology: { kind: 'ring', degree: 2 },
    links: { latency: { distribution: 'constant', mean_ms: latencyMs, spread_ms: 0 } },
    consensus: { policy: 'majority', dormant_after: 0, voting_period_ms: 2 * thinkMs + 60_000 },
    measure: { every_ms: 3_600_000, votes: true },
    length: { blocks },
  };
}

const ringSocial = { discussion: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } };

/** For each block, the number of other agents that had received its meme when they voted. */
async function reached(thinkMs: number, latencyMs: number, blocks: number): Promise<number[]> {
  const counts = Array.from({ length: blocks }, () => 0);
  for (const { block, group, memes } of await votesOf(ring(thinkMs, latencyMs, blocks))) {
    if (group === 'others' && memes > 0 && block < blocks) counts[block]! += 1;
  }
  return counts;
}

/** Returns 2(e - 1), with the series cut off where the two sides of the ring meet. */
function chainMean(): number {
  let term = 1;
  let sum = 0;
  for (let hop = 1; hop <= (SEATS - 1) / 2; hop += 1) {
    term /= hop;
    sum += term;
  }
  return 2 * sum;
}

async function gossipRows(size: Size): Promise<Row[]> {
  const atOnce = await reached(0, 50, scaled(size, 3, 20));
  const blocks = scaled(size, 60, 1_000);
  const spread = await reached(100_000, 10, blocks);
  const one = 'all vote at one instant, links of 50 ms: agents reached';
  const many = 'votes spread over 100 s, links of 10 ms: agents reached';
  return [
    exactRow(one, 2, meanOf(atOnce), `${atOnce.length} blocks`),
    meanRow(many, chainMean(), spread, `${blocks} blocks`),
  ];
}

export const gossip: ValidationCase = {
  name: 'gossip',
  about:
    'One of 41 agents on a ring posts a meme. A voter passes on what it has received. If all ' +
    'vote at one instant, only the neighbours receive the meme. If votes are spread at random ' +
    'and links are fast, an agent at distance d receives it if the d agents up to it vote in ' +
    'their order, with probability 1/d!: twice e - 1 agents on average.',
  source: 'records of a random permutation; the limit of fast links',
  rows: gossipRows,
};

const MEAN_MS = 300;
const SPREAD_MS = 200;
const THINK_MS = 200;

async function latencyRows(size: Size): Promise<Row[]> {
  const blocks = await blocksOf({
    agents: [{ group: 'elector', count: 1, producers: 1, traits: { ...approving, think_ms: 0 } }],
    producers: { block_interval_ms: 1_000 },
    links: { latency: { distribution: 'exponential', mean_ms: MEAN_MS, spread_ms: SPREAD_MS } },
    length: { blocks: scaled(size, 200, 4_000) },
  });
  const found = blocks.map(({ finality }) => finality);
  const shift = THINK_MS + 2 * (MEAN_MS - SPREAD_MS);
  const from = `${found.length} blocks`;
  const shares = [0.05, 0.5, 0.95, 0.99].map((place): Row => {
    // Times are rounded to whole milliseconds, so those within `ms` extend to ms + 0.5.
    const ms = Math.round(shift + jstat.jStat.gamma.inv(place, 2, SPREAD_MS));
    const theory = jstat.jStat.gamma.cdf(ms + 0.5 - shift, 2, SPREAD_MS);
    const within = found.filter((one) => one <= ms).length;
    const what = `share of blocks final within ${ms} ms`;
    return shareRow(what, theory, [within, found.length], 'blocks');
  });
  return [meanRow('mean finality, ms', shift + 2 * SPREAD_MS, found, from), ...shares];
}

export const latency: ValidationCase = {
  name: 'latency',
  about:
    'A block with one elector that thinks for 200 ms is final after two latencies, that of ' +
    'the block and that of the vote. With exponential latencies of mean 300 ms and deviation ' +
    '200 ms, shifted by 100 ms, their sum has a gamma distribution of shape 2.',
  source: 'gamma distribution',
  rows: latencyRows,
};

const UPLINK_KBPS = 1;
/** Transmission time of a text of 123 characters and its two quotes. */
const SERVICE_MS = (8 * 125) / UPLINK_KBPS;
const SENDERS = 100;
/** After 300 service times, the initially empty queues no longer affect the waits. */
const WARMUP_MS = 300_000;

/**
 * Sends after times with an exponential distribution, by comparisons alone (von Neumann 1951), so
 * that they are the same on every machine.
 */
const script = `
const exponential = (rng) => {
  for (let whole = 0; ; whole += 1) {
    const first = rng.real();
    let accepted = true;
    let last = first;
    for (let next = rng.real(); next < last; next = rng.real()) {
      last = next;
      accepted = !accepted;
    }
    if (accepted) return whole + first;
  }
};

const next = ({ memory, nowMs, parameters }, rng) => {
  memory.at = (memory.at ?? nowMs) + parameters.meanMs * exponential(rng);
  return { do: 'wake', ms: Math.max(1, Math.ceil(memory.at) - nowMs) };
};

export const start = next;
export const hear = () => null;
export const mingle = () => null;
export const wake = (view, rng) => [
  { do: 'send', to: [view.neighbours[0]], content: 'x'.repeat(123) },
  next(view, rng),
];
`;

/** One agent makes blocks, so that the run continues; the others only send. */
function senders(meanMs: number, lengthMs: number) {
  const module = 'sends.mjs';
  const strategy = { kind: 'script', module, parameters: { meanMs } };
  const agents = [
    { group: 'clerk', count: 1, producers: 1, strategy: { kind: 'honest' } },
    { group: 'senders', count: SENDERS, uplink_kbps: UPLINK_KBPS, strategy },
  ];
  const consensus = { policy: 'majority', participation: 0, dormant_after: 0 };
  return {
    files: { [module]: script },
    agents,
    links: { latency: { distribution: 'constant', mean_ms: 50, spread_ms: 0 } },
    consensus: { ...consensus, voting_period_ms: 10_000 },
    producers: { block_interval_ms: 10_000 },
    measure: { every_ms: 3_600_000, warmup_ms: WARMUP_MS },
    length: { virtual_ms: WARMUP_MS + lengthMs },
  };
}

async function row(size: Size, utilisation: number): Promise<Row> {
  const { files, ...raw } = senders(SERVICE_MS / utilisation, scaled(size, 100_000, 400_000));
  const seeds = Array.from({ length: scaled(size, 5, 15) }, (_, index) => `${index + 1}`);
  const waits: number[] = [];
  for (const seed of seeds) {
    const { uplink_wait_mean_ms } = await measuresOf(raw, files, seed);
    waits.push(uplink_wait_mean_ms!);
  }
  const theory = (utilisation * SERVICE_MS) / (2 * (1 - utilisation));
  return meanRow(
    `utilisation ${utilisation}: mean wait, ms`,
    theory,
    waits,
    `${seeds.length} runs`,
  );
}

export const uplinks: ValidationCase = {
  name: 'uplinks',
  about:
    'Agents send messages of one size at the instants of a Poisson process. Each takes one ' +
    'second in an uplink of 1 kbit/s: a queue with one server and constant service time (M/D/1). ' +
    'With utilisation r and service time s, the mean wait of a message is r s / (2 (1 - r)).',
  source: 'Pollaczek and Khinchine',
  rows: async (size) => [await row(size, 0.5), await row(size, 0.8)],
};

type Graph = readonly (readonly number[])[];

const SIZE = 4_000;
const DEGREE = 10;

function graph(rewired: number, seed: string): Graph {
  const agents = [{ group: 'town', count: SIZE, producers: 1 }];
  const topology = { kind: 'small_world', degree: DEGREE, rewired };
  const scenario = completeScenario({ title: 'A graph', agents, topology });
  return buildGraph(scenario, new Streams(seed).of('world', 'graph'));
}

/** Share of all pairs of neighbours of an agent that are neighbours of each other. */
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
  // Rewiring makes the degrees vary, and the mean number of pairs of neighbours grows with that.
  const pairs = DEGREE * (DEGREE - 1);
  const kept = 1 - rewired;
  const variance = (DEGREE / 2) * rewired * (2 - rewired);
  const what = `${SIZE} agents, degree ${DEGREE}, ${rewired} rewired: clustering`;
  const theory = (ring * kept * kept * kept * pairs) / (pairs + variance);
  return meanRow(what, theory, found, `${graphs} graphs`);
}

/** On a ring, an agent at distance d is d / (degree / 2) steps away, rounded up. */
function ringPath(): number {
  let sum = 0;
  for (let seat = 1; seat < SIZE; seat += 1) {
    sum += Math.ceil(Math.min(seat, SIZE - seat) / (DEGREE / 2));
  }
  return sum / (SIZE - 1);
}

async function smallWorldRows(size: Size): Promise<Row[]> {
  const graphs = scaled(size, 5, 30);
  const ring = graph(0, '1');
  const what = `${SIZE} agents on a ring of degree ${DEGREE}`;
  const closed = (3 * (DEGREE - 2)) / (4 * (DEGREE - 1));
  return [
    exactRow(`${what}: clustering`, closed, clustering(ring), '1 graph'),
    exactRow(`${what}: mean path`, ringPath(), pathLength(ring), '1 graph'),
    ...[0.01, 0.1, 0.3].map((rewired) => clusteringRow(rewired, graphs)),
  ];
}

export const smallWorld: ValidationCase = {
  name: 'small-world',
  about:
    'A ring of degree k has the clustering 3(k - 2) / 4(k - 1). Rewiring a share p of its links ' +
    'leaves (1 - p)^3 of the triangles, among k(k - 1) + kp(2 - p)/2 pairs of neighbours of an ' +
    'agent, because degrees then have the variance kp(2 - p)/2, up to terms of 1/n.',
  source: 'Watts and Strogatz 1998, Nature 393; Barrat and Weigt 2000, Eur. Phys. J. B 13',
  rows: smallWorldRows,
};

const ELECTORS = 31;
const PERIOD_MS = 5_000;
const PARTITION_FROM_MS = 20_000;

const between = (blocks: readonly BlockRow[], from: number, to: number): number => {
  const within = blocks.filter(({ proposed, closed }) => proposed >= from && closed <= to);
  return finalizedOf(within) / within.length;
};

async function cut(off: number, lengthMs: number): Promise<Row[]> {
  const traits = { ...approving, think_ms: 300 };
  const healed = PARTITION_FROM_MS + lengthMs;
  const whom = [{ group: 'cut' }];
  const blocks = await blocksOf({
    agents: [
      { group: 'rest', count: ELECTORS - off, producers: 1, traits },
      { group: 'cut', count: off, traits },
    ],
    producers: { block_interval_ms: 1_000 },
    faults: [{ kind: 'partition', start_ms: PARTITION_FROM_MS, length_ms: lengthMs, whom }],
    consensus: { dormant_after: 0, voting_period_ms: PERIOD_MS },
    length: { virtual_ms: healed + lengthMs },
    patience_periods: 10_000,
  });
  const enough = ELECTORS - off >= bftQuorum(ELECTORS);
  const what = `${off} of ${ELECTORS} cut off`;
  const from = `${blocks.length} blocks`;
  const during = between(blocks, PARTITION_FROM_MS, healed);
  const after = between(blocks, healed + PERIOD_MS, healed + lengthMs);
  return [
    exactRow(`${what}: share finalized meanwhile`, enough ? 1 : 0, during, from),
    exactRow(`${what}: share finalized after healing`, 1, after, from),
  ];
}

async function partitionRows(size: Size): Promise<Row[]> {
  const lengthMs = scaled(size, 60_000, 600_000);
  return [...(await cut(10, lengthMs)), ...(await cut(11, lengthMs))];
}

export const partitions: ValidationCase = {
  name: 'partitions',
  about:
    'While a partition cuts off a third of the electorate or more, `bft` finalizes nothing. With ' +
    'a smaller partition it continues, and after the partition every block is final again.',
  source: 'Dwork, Lynch and Stockmeyer 1988, Consensus in the presence of partial synchrony',
  rows: partitionRows,
};

const PRODUCERS = 10;
const CRASHED = 3;
const SLOT_MS = 2_000;
/** All agents have joined before it; the crash begins half a second before a slot. */
const CRASH_FROM_MS = 24_500;

function crashScenario(schedule: string, slots: number) {
  const traits = { ...approving, think_ms: 300 };
  const whole = { start_ms: CRASH_FROM_MS, length_ms: (slots + 10) * SLOT_MS };
  return {
    agents: [
      { group: 'voters', count: 21, traits },
      { group: 'steady', count: PRODUCERS - CRASHED, producers: PRODUCERS - CRASHED, traits },
      { group: 'crashing', count: CRASHED, producers: CRASHED, traits },
    ],
    producers: { schedule, block_interval_ms: SLOT_MS },
    faults: [{ kind: 'crash', ...whole, whom: [{ group: 'crashing' }] }],
    consensus: { dormant_after: 0 },
    length: { virtual_ms: CRASH_FROM_MS + slots * SLOT_MS },
  };
}

async function inSlots(schedule: string, slots: number) {
  const blocks = await blocksOf(crashScenario(schedule, slots));
  return blocks.filter(({ proposed }) => proposed >= CRASH_FROM_MS).map(({ proposed }) => proposed);
}

async function crashRows(size: Size): Promise<Row[]> {
  const slots = scaled(size, 100, 2_000);
  const from = `${slots} slots`;
  const theory = (PRODUCERS - CRASHED) / PRODUCERS;
  const inTurn = await inSlots('round_robin', slots);
  const drawn = await inSlots('random', slots);
  const gaps = drawn.slice(1).map((at, index) => (at - drawn[index]!) / SLOT_MS);
  const what = `${CRASHED} of ${PRODUCERS} producers crashed`;
  const share = inTurn.length / slots;
  return [
    exactRow(`${what}, slots in turn: share with a block`, theory, share, from),
    shareRow(`${what}, slots drawn: share with a block`, theory, [drawn.length, slots], 'slots'),
    meanRow(`${what}, slots drawn: mean slots from block to block`, 1 / theory, gaps, from),
  ];
}

export const crashes: ValidationCase = {
  name: 'crashes',
  about:
    'A slot whose producer has crashed stays empty. With slots in turn, the empty share is ' +
    'exactly that of the crashed producers. With drawn producers, the number of blocks is ' +
    'binomial and the wait for the next block geometric.',
  source: 'binomial and geometric distribution',
  rows: crashRows,
};

async function complexityRows(size: Size): Promise<Row[]> {
  const agents = scaled(size, 12, 50);
  const found = await messageComplexity([agents, 4 * agents]);
  return found.map(({ topology, agents: n, kind, formula, expected, counted }) =>
    exactRow(`${topology}, n = ${n}: ${kind}, ${formula}`, expected, counted, '3 blocks'),
  );
}

export const complexity: ValidationCase = {
  name: 'complexity',
  about:
    'The number of messages for each block on which all n agents vote, over links without ' +
    'loss. The number of requests and events grows with n. Gossip grows with the number m of ' +
    'links between agents, and therefore with the square of n in a complete graph.',
  source: 'counting: each vote goes once over every link of its voter, from both of its ends',
  rows: complexityRows,
};

/*
 * A block's requests and events grow with the number of agents. Its gossip grows with the number of
 * links, which in a complete graph grows with the square of the number of agents.
 */

interface ComplexityRow {
  topology: Scenario['topology']['kind'];
  agents: number;
  kind: MessageKind;
  /** In terms of n agents and m links between them. */
  formula: string;
  /** Messages for each block, by the formula and as counted. */
  expected: number;
  counted: number;
}

/** The topologies of the table, each with its number of links for n agents. */
const topologies = [
  { kind: 'complete', links: (n: number) => (n * (n - 1)) / 2 },
  { kind: 'ring', degree: 4, links: (n: number) => 2 * n },
  // Links as drawn: a rewired link that coincides with another link counts once.
  { kind: 'small_world', degree: 8, rewired: 0.1, links: null },
] as const;

const formulas = {
  'request.propose': { formula: '1', of: () => 1 },
  'request.vote': { formula: 'n', of: (n: number) => n },
  'event.proposal': { formula: 'n', of: (n: number) => n },
  'event.close': { formula: 'n', of: (n: number) => n },
  'gossip.vote': { formula: '2 m', of: (_: number, links: number) => 2 * links },
} as const satisfies Partial<Record<MessageKind, object>>;

const BLOCKS = 3;

/**
 * Runs a few blocks on which everybody votes, over links that lose nothing.
 * @param sizes numbers of agents, from 12 to 2,000.
 */
async function messageComplexity(sizes: readonly number[]): Promise<ComplexityRow[]> {
  const rows: ComplexityRow[] = [];
  for (const topology of topologies) {
    for (const agents of sizes) rows.push(...(await rowsOf(topology, agents)));
  }
  return rows;
}

async function rowsOf(
  { links, ...topology }: (typeof topologies)[number],
  agents: number,
): Promise<ComplexityRow[]> {
  const scenario = complexityScenario(topology, agents);
  const { messages } = await simulate(scenario, { store: 'memory', audit: false });
  const m = links ? links(agents) : drawnLinks(scenario);
  return Object.entries(formulas).map(([name, { formula, of }]) => {
    const kind = name as keyof typeof formulas;
    const counted = messages[kind].sent / BLOCKS;
    return { topology: topology.kind, agents, kind, formula, expected: of(agents, m), counted };
  });
}

function drawnLinks(scenario: Scenario): number {
  const graph = buildGraph(scenario, new Streams(scenario.seed).of('world', 'graph'));
  return graph.reduce((sum, neighbours) => sum + neighbours.length, 0) / 2;
}

/** With `majority`, a block stays open until all have voted or its deadline passes. */
function complexityScenario(topology: object, count: number): Scenario {
  const off = () => ({ rate: 0 });
  return completeScenario({
    ...{ title: `${count} agents`, signatures: 'none' },
    ...{ agents: [{ group: 'all', count, producers: 1, strategy: { kind: 'honest' } }], topology },
    social: { memes: off(), discussion: off(), alliances: off(), breaks: off() },
    links: { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 } },
    producers: { schedule: 'round_robin', block_interval_ms: 10_000 },
    consensus: { policy: 'majority', participation: 0, dormant_after: 0 },
    length: { blocks: BLOCKS },
  });
}
