/**
 * Cases about protocols and opinion dynamics that run as scripts: the included scenarios
 * `tendermint`, `snowball`, `degroot`, `hegselmann-krause` and `deffuant`.
 */

import jstat from 'jstat';
import { Streams } from '../../../dist/sim/rng.js';
import { simulate } from '../../../dist/sim/run/simulate.js';
import { loadScenario } from '../../../dist/sim/scenario/load.js';
import type { Change } from '../../../dist/sim/scenario/problem.js';
import { drawnGraph } from '../../../dist/sim/world/graph.js';
import { exactRow, LEVEL, type Row, type Size, scaled, type ValidationCase } from './case.js';

/** Runs an included scenario with changed values; returns measures, and those of its script. */
async function run(name: string, changes: readonly Change[]) {
  const { scenario, folder } = loadScenario(name, [...changes, ['sweep', null]]);
  const result = await simulate(scenario, { folder, store: 'memory', audit: false });
  const { measures, reported, verdict } = result;
  return { scenario, measures, verdict, own: reported.groups.town ?? {} };
}

const { studentt } = jstat.jStat;
const AGENTS = 16;
const QUORUM = 11;

async function tendermint(faulty: number, behaviour: string, size: Size) {
  const { measures, own } = await run('tendermint', [
    ['agents.faulty.count', faulty],
    ['agents.faulty.strategy.parameters.behaviour', behaviour],
    ['length', { virtual_ms: scaled(size, 30_000, 120_000) }],
  ]);
  return {
    what: `${faulty} of ${AGENTS} ${behaviour === 'silent' ? 'are silent' : 'equivocate'}`,
    ...{ heights: own.heights ?? 0, rounds: own.rounds_mean ?? null },
    ...{ decided: measures.slots_decided!, conflicts: measures.slot_conflicts! },
  };
}

const isLedByFaulty = (height: number, faulty: number): boolean =>
  height % AGENTS >= AGENTS - faulty;

/** The faulty agents are the last ones in the rotation. A height waits for the next honest one. */
function roundsOf(heights: number, faulty: number): number {
  let rounds = 0;
  for (let height = 0; height < heights; height += 1) {
    rounds += isLedByFaulty(height, faulty) ? AGENTS + 1 - (height % AGENTS) : 1;
  }
  return rounds / heights;
}

async function tendermintRows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const [faulty, behaviour] of [
    [5, 'silent'],
    [3, 'equivocate'],
    [5, 'equivocate'],
  ] as const) {
    const { what, heights, rounds, conflicts } = await tendermint(faulty, behaviour, size);
    const from = `${heights} heights`;
    // Equivocators and one half of the others may be a quorum: then that half decides at once.
    const half = behaviour === 'silent' ? 0 : faulty + Math.ceil((AGENTS - faulty) / 2);
    const theory = half < QUORUM ? roundsOf(heights, faulty) : 1;
    found.push(exactRow(`${what}: heights with a fork`, 0, conflicts, from));
    found.push(exactRow(`${what}: mean rounds of a height`, theory, rounds!, from));
  }
  const silent = await tendermint(6, 'silent', size);
  found.push(exactRow(`${silent.what}: heights decided`, 0, silent.decided, '1 run'));
  const split = await tendermint(6, 'equivocate', size);
  const led = Array.from({ length: split.heights }, (_, height) => isLedByFaulty(height, 6));
  const what = `${split.what}: heights with a fork, those of faulty leaders`;
  const forks = led.filter((faulty) => faulty).length;
  return [...found, exactRow(what, forks, split.conflicts, `${split.heights} heights`)];
}

export const rotation: ValidationCase = {
  name: 'tendermint',
  about:
    'Of 16 agents, more than two thirds must agree: 11. With up to 5 faulty agents, two quorums ' +
    'share an honest agent, so no height has two decisions. A height whose leader is silent ' +
    'waits for the next honest leader. With 6 silent agents no quorum is left. With 6 ' +
    'equivocators, each half of the 10 others forms a quorum with them, so every height with a ' +
    'faulty leader forks. The scenario is the included `tendermint`.',
  source: 'Buchman, Kwon and Milosevic 2018, The latest gossip on BFT consensus',
  rows: tendermintRows,
};

const TOWN = 200;
const BETA = 10;
const BLOCK_MS = 15_000;

async function snowball(approves: number, blocks: number): Promise<Row[]> {
  const { measures, own } = await run('snowball', [
    ['agents.town.strategy.parameters.approves', approves],
    ['links.latency', { distribution: 'constant', mean_ms: 50, spread_ms: 0 }],
    ['length', { virtual_ms: blocks * BLOCK_MS }],
  ]);
  const what = `${approves * TOWN} of ${TOWN} approve at first`;
  const slots = measures.slots_decided!;
  const from = `${slots} blocks`;
  const rounds = exactRow(`${what}: mean rounds`, BETA, own.rounds_mean!, from);
  return [
    exactRow(`${what}: blocks with a split`, 0, measures.slot_conflicts!, from),
    exactRow(`${what}: decisions for a block`, TOWN, measures.slot_decisions! / slots, from),
    ...(approves === 1 ? [rounds] : []),
  ];
}

const [SAMPLE, ALPHA, CRASHED] = [10, 8, 20];
/** Time in which all agents decide, if some have crashed. */
const RUN_MS = 300_000;

/** Chance that a random sample of the other agents contains at least `ALPHA` that are up. */
function computeSuccess(): number {
  const [up, down] = [TOWN - CRASHED - 1, CRASHED];
  const samples = (from: number, size: number) =>
    Array.from({ length: size }, (_, at) => (from - at) / (at + 1)).reduce((a, b) => a * b, 1);
  const sizes = Array.from({ length: SAMPLE - ALPHA + 1 }, (_, missing) => missing);
  const good = sizes.map((missing) => samples(up, SAMPLE - missing) * samples(down, missing));
  return good.reduce((sum, one) => sum + one, 0) / samples(up + down, SAMPLE);
}

/**
 * All agents that are up prefer the same, so only missing answers fail a round. The numbers of
 * rounds are independent, with a known mean and variance.
 */
async function crashed(blocks: number): Promise<Row[]> {
  const lasting = { start_ms: 1, length_ms: blocks * RUN_MS };
  const { measures, own } = await run('snowball', [
    ['agents.town.strategy.parameters.approves', 1],
    ['producers.block_interval_ms', RUN_MS],
    ['length', { virtual_ms: blocks * RUN_MS }],
    ['faults', [{ kind: 'crash', ...lasting, whom: [{ group: 'town', count: CRASHED }] }]],
  ]);
  const success = computeSuccess();
  const chance = (1 - success) * success ** BETA;
  const variance = 1 / chance ** 2 - (2 * BETA + 1) / chance - success / (1 - success) ** 2;
  const [decisions, mean] = [measures.slot_decisions!, own.rounds_mean!];
  const half = studentt.inv(1 - (1 - LEVEL) / 2, decisions) * Math.sqrt(variance / decisions);
  const what = `${TOWN} of ${TOWN} approve at first, ${CRASHED} crashed`;
  const from = `${blocks} blocks`;
  return [
    exactRow(`${what}: decisions for a block`, TOWN - CRASHED, decisions / blocks, from),
    {
      what: `${what}: mean rounds`,
      theory: (1 - success ** BETA) / chance,
      measured: mean,
      interval: [mean - half, mean + half],
      from,
    },
  ];
}

async function snowballRows(size: Size): Promise<Row[]> {
  const blocks = scaled(size, 2, 20);
  const found: Row[] = [];
  for (const approves of [0.5, 0.7, 1]) found.push(...(await snowball(approves, blocks)));
  return [...found, ...(await crashed(blocks))];
}

export const sampling: ValidationCase = {
  name: 'snowball',
  about:
    'Each of 200 agents repeatedly asks k = 10 others and follows 8 equal answers (alpha). After ' +
    '10 such rounds in a row (beta) it decides. With these parameters a split is too rare to ' +
    'occur, however the preferences begin. If they begin equal, each agent needs beta rounds. ' +
    'If some agents have crashed, a round succeeds with the probability p that 8 of the 10 are ' +
    'up, which is hypergeometric. The mean number of rounds up to 10 successes in a row is ' +
    '(1 - p^10) / ((1 - p) p^10). First preferences are random; their mean is given. The ' +
    'scenario is the included `snowball`.',
  source:
    'Team Rocket, Yin, Sekniqi, van Renesse and Sirer 2019, Scalable and probabilistic ' +
    'leaderless BFT consensus through metastability, figure 3; Feller 1968, An Introduction to ' +
    'Probability Theory and Its Applications, volume 1, XIII.7 (runs)',
  rows: snowballRows,
};

/** Units of an opinion in the script, and the largest error of one rounding. */
const UNIT = 1_000_000_000;
const ROUNDING = 0.5;

/** Rounding moves the weighted mean of all opinions by at most half a unit in each round. */
async function averaging(what: string, theory: number, changes: readonly Change[]): Promise<Row> {
  const { own } = await run('degroot', changes);
  const { opinion_least: least, opinion_most: most, rounds } = own;
  const error = (rounds! * ROUNDING) / UNIT;
  return {
    ...{ what, theory, measured: (least! + most!) / 2, interval: [least! - error, most! + error] },
    from: `${rounds} rounds`,
  };
}

async function inGraph(rewired: number): Promise<Row> {
  const { scenario } = loadScenario('degroot', [['topology.rewired', rewired]]);
  const weights = drawnGraph(scenario, scenario.seed, []).map(({ length }) => length + 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const theory = weights.reduce((sum, weight, place) => sum + weight * place, 0) / total;
  const what = `${weights.length} agents, ${rewired} rewired: limit of opinions`;
  return averaging(what, theory, [['topology.rewired', rewired]]);
}

const byMatrix = (what: string, weights: readonly (readonly number[])[]): Promise<Row> =>
  averaging(`${what}: limit of opinions`, computeLimit(weights), [
    ['agents.town.count', weights.length],
    ['agents.town.strategy.parameters', { weights }],
    ['topology', { kind: 'complete' }],
  ]);

/** Solves w T = w with sum 1 by elimination, and returns the weighted mean of the places. */
function computeLimit(weights: readonly (readonly number[])[]): number {
  const size = weights.length;
  const totals = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  // Row j: sum over i of w_i (T_ij - [i = j]) = 0; the last row is the sum of all weights.
  const rows = weights.map((_, j) => [
    ...weights.map((row, i) => (j === size - 1 ? 1 : row[j]! / totals[i]! - Number(i === j))),
    j === size - 1 ? 1 : 0,
  ]);
  for (let at = 0; at < size; at += 1) {
    const below = rows.slice(at).map((row) => Math.abs(row[at]!));
    const pivot = at + below.indexOf(Math.max(...below));
    [rows[at], rows[pivot]] = [rows[pivot]!, rows[at]!];
    for (const row of rows) {
      const factor = row === rows[at] ? 0 : row[at]! / rows[at]![at]!;
      for (let column = at; column <= size; column += 1)
        row[column]! -= factor * rows[at]![column]!;
    }
  }
  return rows.reduce((sum, row, place) => sum + (place * row[size]!) / row[place]!, 0);
}

async function degrootRows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const rewired of size === 'full' ? [0, 0.1, 0.3, 1] : [0.3]) {
    found.push(await inGraph(rewired));
  }
  const golub = [
    [0, 1, 1],
    [1, 0, 0],
    [0, 1, 0],
  ];
  found.push(await byMatrix('3 agents with eigenvector 2/5, 2/5, 1/5', golub));
  const rng = new Streams('degroot').of('world', 'weights');
  const drawn = Array.from({ length: 8 }, () => Array.from({ length: 8 }, () => rng.int(10)));
  found.push(await byMatrix('8 agents with random weights', drawn));
  return found;
}

export const weightedMeans: ValidationCase = {
  name: 'degroot',
  about:
    'In each round, all agents take weighted means of opinions. In a connected aperiodic graph ' +
    'all opinions converge to the mean of the first ones, weighted by the left eigenvector of ' +
    'the matrix. With equal weights for oneself and each neighbour, the eigenvector is the ' +
    'number of neighbours plus one. Opinions are integers: the interval is the largest sum of ' +
    'rounding errors. The first opinion is the place of the agent. The scenario is the included ' +
    '`degroot`.',
  source:
    'DeGroot 1974, Reaching a consensus; Golub and Jackson 2010, American Economic Journal: ' +
    'Microeconomics 2(1)',
  rows: degrootRows,
};

const OPINIONS = 625;

/** Iterates the model in floating point, with sums over sorted opinions. */
function iterateOpinions(confidence: number, rounds: number): number[] {
  let opinions = Array.from({ length: OPINIONS }, (_, place) => place / (OPINIONS - 1));
  for (let round = 0; round < rounds; round += 1) {
    opinions = opinions.map((own) => {
      const near = opinions.filter((other) => Math.abs(other - own) <= confidence + 1e-12);
      return near.reduce((sum, other) => sum + other, 0) / near.length;
    });
  }
  return opinions;
}

async function bounded(confidence: number, clusters: number): Promise<Row[]> {
  const { own } = await run('hegselmann-krause', [
    ['agents.town.strategy.parameters.confidence', confidence],
  ]);
  const from = `${own.rounds} rounds`;
  const what = `${OPINIONS} opinions, confidence ${confidence}`;
  const opinions = iterateOpinions(confidence, own.rounds!);
  const range = own.opinion_range!;
  const error = 1e-6;
  return [
    exactRow(`${what}: clusters`, clusters, own.clusters!, from),
    {
      what: `${what}: range of opinions`,
      theory: Math.round((Math.max(...opinions) - Math.min(...opinions)) / error) * error,
      measured: range,
      interval: [range - error, range + error],
      from,
    },
  ];
}

const boundedRows = async (): Promise<Row[]> => [
  ...(await bounded(0.1, 5)),
  ...(await bounded(0.2, 1)),
];

export const boundedConfidence: ValidationCase = {
  name: 'hegselmann-krause',
  about:
    'Opinions begin equidistant from 0 to 1. In each round, every agent takes the mean of all ' +
    'opinions within its confidence bound. Nothing is random. Five clusters remain at 0.1, and ' +
    'one at 0.2, after a long time in which a few agents in the middle connect two outer ' +
    'clusters. The range matches that of a floating-point iteration to within 0.000001. The ' +
    'scenario is the included `hegselmann-krause`.',
  source:
    'Hegselmann and Krause 2002, Journal of Artificial Societies and Social Simulation 5(3); ' +
    'iteration of the model',
  rows: boundedRows,
};

/** Runs for a time that is too short for consensus, so moves are under way at the end. */
async function pairwise(latencyMs: number, confidence: number, size: Size): Promise<Row> {
  const { own, measures } = await run('deffuant', [
    ['agents.town.strategy.parameters.confidence', confidence],
    ['links.latency', { distribution: 'constant', mean_ms: latencyMs, spread_ms: 0 }],
    ['length', { virtual_ms: scaled(size, 20_000, 120_000) }],
  ]);
  const what = `${TOWN} agents, latency ${latencyMs} ms, confidence ${confidence}`;
  return exactRow(
    `${what}: change of the mean`,
    0,
    own.mean_drift!,
    `${measures.messages_sent} messages`,
  );
}

export const pairs: ValidationCase = {
  name: 'deffuant',
  about:
    'In an exchange, two agents move towards each other by the same amount. Therefore the mean ' +
    'of all opinions is the same at every time, for every latency and confidence bound. ' +
    'Opinions are integers, so this is exact. A move counts when the first of the two makes it. ' +
    'The scenario is the included `deffuant`.',
  source: 'Deffuant, Neau, Amblard and Weisbuch 2000, Advances in Complex Systems 3',
  rows: async (size) => {
    const found: Row[] = [];
    for (const latency of [50, 200, 1_000]) found.push(await pairwise(latency, 0.5, size));
    return [...found, await pairwise(200, 0.1, size)];
  },
};
