/**
 * All cases, in the order of docs/validation.md. Those about decisions are here: juries,
 * thresholds, time to finality, cascades, and the rule that stops a sweep.
 */

import jstat from 'jstat';
import { ln } from '../../../dist/sim/numbers.js';
import { type Stream, Streams } from '../../../dist/sim/rng.js';
import { simulate } from '../../../dist/sim/run/simulate.js';
import { loadScenario } from '../../../dist/sim/scenario/load.js';
import { computeStatistics, Sample } from '../../../dist/sim/sweep/statistics.js';
import { getLevel, Replicates } from '../../../dist/sim/sweep/stopping.js';
import {
  approving,
  bftQuorum,
  binomialTail,
  blocksOf,
  exactRow,
  finalizedOf,
  meanRow,
  orderStatisticMean,
  type Row,
  type Size,
  scaled,
  shareInterval,
  shareRow,
  type ValidationCase,
  whim,
  whimOf,
} from './case.js';
import { agreement, conformity, correlation, debates, earlyStop } from './deliberation-cases.js';
import {
  complexity,
  crashes,
  gossip,
  latency,
  partitions,
  smallWorld,
  uplinks,
} from './network-cases.js';
import { boundedConfidence, pairs, rotation, sampling, weightedMeans } from './protocol-cases.js';

import { delegation, paradox, rules, sortition } from './rule-cases.js';

const ELECTORS = 31;

type Policy = 'bft' | 'majority';

/** A fixed number of 31 electors approve and the others reject: always the same outcome. */
async function against(policy: Policy, rejecting: number, blocks: number): Promise<Row> {
  const town = { group: 'town', count: ELECTORS - rejecting, producers: 1, traits: approving };
  const other = { group: 'other', count: rejecting, strategy: { kind: 'bloc' } };
  const found = await blocksOf({
    ...{ agents: [town, other], producers: { block_interval_ms: 1_000 } },
    ...{ consensus: { policy, dormant_after: 0, voting_period_ms: 10_000 }, length: { blocks } },
  });
  const approve = ELECTORS - rejecting;
  const enough = policy === 'bft' ? approve >= bftQuorum(ELECTORS) : approve > rejecting;
  const what = `${policy}: ${approve} approve, ${rejecting} reject: share finalized`;
  const measured = finalizedOf(found) / found.length;
  return exactRow(what, enough ? 1 : 0, measured, `${found.length} blocks`);
}

/** Each elector approves with the same probability, so theory is a tail of the binomial. */
async function byCoin(policy: Policy, threshold: number, blocks: number): Promise<Row> {
  const found = await blocksOf({
    agents: [{ group: 'town', count: ELECTORS, producers: 1, traits: whim(threshold) }],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy, dormant_after: 0 },
    length: { blocks },
  });
  const quorum = policy === 'bft' ? bftQuorum(ELECTORS) : Math.floor(ELECTORS / 2) + 1;
  const chance = whimOf(threshold);
  const what = `${policy}: each of ${ELECTORS} approves with ${chance.toFixed(4)}: share finalized`;
  const theory = binomialTail(ELECTORS, chance, quorum);
  return shareRow(what, theory, [finalizedOf(found), found.length], 'blocks');
}

async function thresholdRows(size: Size): Promise<Row[]> {
  const few = scaled(size, 5, 100);
  const many = scaled(size, 100, 2_000);
  const found: Row[] = [];
  for (const rejecting of [10, 11]) found.push(await against('bft', rejecting, few));
  for (const rejecting of [15, 16]) found.push(await against('majority', rejecting, few));
  for (const threshold of [26, 33, 40]) found.push(await byCoin('bft', threshold, many));
  for (const threshold of [46, 51, 56]) found.push(await byCoin('majority', threshold, many));
  return found;
}

const thresholds: ValidationCase = {
  name: 'thresholds',
  about:
    'A `bft` block needs more than two thirds of the weight. A `majority` block needs more ' +
    'approvals than rejections. With a fixed number of rejections the outcome is certain. If ' +
    'each elector votes at random, the share of finalized blocks is a tail of the binomial ' +
    'distribution.',
  source: 'docs/protocol.md, section 6; binomial distribution',
  rows: thresholdRows,
};

/** Each juror is right about a good block with probability 61/101. */
const THRESHOLD = 40;

async function jury(jurors: number, blocks: number): Promise<Row> {
  const found = await blocksOf({
    agents: [{ group: 'jury', count: jurors, producers: 1, traits: whim(THRESHOLD) }],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy: 'majority', dormant_after: 0 },
    length: { blocks },
  });
  const what = `${jurors} jurors, each right with ${whimOf(THRESHOLD).toFixed(4)}: jury right`;
  const theory = binomialTail(jurors, whimOf(THRESHOLD), Math.floor(jurors / 2) + 1);
  return shareRow(what, theory, [finalizedOf(found), found.length], 'blocks');
}

async function condorcetRows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const jurors of [1, 11, 41, 101]) found.push(await jury(jurors, scaled(size, 100, 1_500)));
  return found;
}

const condorcet: ValidationCase = {
  name: 'condorcet',
  about:
    'Independent jurors that are each right with probability above one half are right more ' +
    'often together, and more often with more jurors. The probability is a tail of the ' +
    'binomial distribution.',
  source: 'Condorcet 1785, Essai sur l’application de l’analyse',
  rows: condorcetRows,
};

/** Latency of each message, minimum think time, and width of the uniform remainder. */
const LATENCY_MS = 20;
const THINK_MS = 200;
const WIDTH_MS = 3_000;

async function rowsOf(electors: number, blocks: number): Promise<Row[]> {
  const traits = { ...approving, think_ms: WIDTH_MS };
  const closed = await blocksOf({
    agents: [{ group: 'town', count: electors, producers: 1, traits }],
    producers: { block_interval_ms: 1_000 },
    consensus: { dormant_after: 0 },
    length: { blocks },
  });
  const found = closed.map(({ finality }) => finality);
  const quorum = bftQuorum(electors);
  const fixed = 2 * LATENCY_MS + THINK_MS;
  const p95 = fixed + WIDTH_MS * jstat.jStat.beta.inv(0.95, quorum, electors + 1 - quorum);
  const below = found.filter((ms) => ms <= p95).length;
  const mean = fixed + orderStatisticMean(quorum, electors, WIDTH_MS);
  const within = `${electors} electors: share final within ${p95.toFixed(0)} ms, theory's p95`;
  return [
    meanRow(
      `${electors} electors, quorum ${quorum}: mean finality, ms`,
      mean,
      found,
      `${found.length} blocks`,
    ),
    shareRow(within, 0.95, [below, found.length], 'blocks'),
  ];
}

async function finalityRows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const electors of [4, 30, 100]) {
    found.push(...(await rowsOf(electors, scaled(size, 60, 1_000))));
  }
  return found;
}

const finality: ValidationCase = {
  name: 'finality',
  about:
    'All electors approve, each after a time uniform over 3 s, with latencies of 20 ms. A ' +
    'block is final with the vote that reaches the quorum. Its time is the k-th smallest of n ' +
    'uniform times, which has a beta distribution.',
  source: 'David and Nagaraja 2003, Order Statistics, section 2.3',
  rows: finalityRows,
};

/** Probability that the wrong side is the first to lead by two signals. */
const wrongOf = (right: number): number =>
  ((1 - right) * (1 - right)) / (right * right + (1 - right) * (1 - right));

async function row(accuracy: number, blocks: number): Promise<Row> {
  const { scenario, folder } = loadScenario('cascade', [
    ['agents.town.strategy.parameters.accuracy', accuracy],
    ['length', { blocks }],
    ['sweep', null],
  ]);
  const { reported } = await simulate(scenario, { folder, store: 'memory', audit: false });
  const { wrong_cascades: measured, cascades } = reported.groups.town!;
  const all = Math.round(cascades! * blocks);
  const wrong = Math.round(measured! * all);
  return {
    what: `signals right with ${accuracy}: share of cascades that are wrong`,
    ...{ theory: wrongOf(accuracy), measured: measured!, interval: shareInterval(wrong, all) },
    from: `${all} cascades`,
  };
}

async function cascadeRows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const accuracy of [0.5, 0.6, 0.8]) found.push(await row(accuracy, scaled(size, 60, 2_000)));
  return found;
}

const cascades: ValidationCase = {
  name: 'cascades',
  about:
    'Each of 30 voters has a signal that is right with probability q and sees the earlier votes. ' +
    'As soon as one side leads by two, all later voters follow it. The cascade is wrong with ' +
    'probability (1 - q)^2 / (q^2 + (1 - q)^2). The scenario is the included `cascade`.',
  source: 'Bikhchandani, Hirshleifer and Welch 1992, Journal of Political Economy 100(5)',
  rows: cascadeRows,
};

const WIDTHS = [0.45, 0.35, 0.3] as const;
const LEAST = 0.94;

const exponential = (rng: Stream) => -ln(1 - rng.real());

/** Both have the mean 1. */
const families = [
  { name: 'exponential', draw: exponential },
  { name: 'gamma of shape 2', draw: (rng: Stream) => (exponential(rng) + exponential(rng)) / 2 },
] as const;

async function stoppingRows(size: Size): Promise<Row[]> {
  return families.flatMap((family) => WIDTHS.map((width) => covered(family, width, size)));
}

function covered({ name, draw }: (typeof families)[number], width: number, size: Size): Row {
  const trials = scaled(size, 4_000, 20_000);
  const rng = new Streams('stopping').of('world', `${name}/${width}`);
  let held = 0;
  for (let trial = 0; trial < trials; trial += 1) held += Number(holdsMean(width, () => draw(rng)));
  return {
    what: `${name}, half width ${width}: share of cells whose interval holds the mean`,
    ...{ theory: LEAST, atLeast: true, measured: held / trials },
    ...{ interval: shareInterval(held, trials), from: `${trials} cells` },
  };
}

/** Runs one cell until it stops, as a sweep does. */
function holdsMean(width: number, draw: () => number): boolean {
  const until = { half_width: width, most: 1_000 };
  const replicates = new Replicates({ replicates: 5, until }, 1);
  const drawn: number[] = [];
  const valuesOf = (_: number, count: number) => {
    while (drawn.length < count) drawn.push(draw());
    return drawn;
  };
  while (replicates.finishCells(valuesOf, 't_log'));
  const { low, high } = computeStatistics(Sample.of(drawn), 't_log', getLevel({ until }));
  return low !== null && high !== null && low <= 1 && 1 <= high;
}

const stopping: ValidationCase = {
  name: 'stopping',
  about:
    'A sweep adds runs to a cell until its interval is narrow. A fixed 95 % interval contains ' +
    'the mean less often at the run where it became narrow (90.5 % of exponential data). A ' +
    'first look at 30 runs and intervals of 97.5 % at each look compensate for this. All runs ' +
    'of a cell come from one distribution with mean 1. A cell ends at 1,000 runs at most.',
  source:
    'Jennison and Turnbull 1999, Group Sequential Methods with Applications to Clinical Trials; ' +
    'Chow and Robbins 1965, Annals of Mathematical Statistics 36(2) 457-462',
  rows: stoppingRows,
};

export const cases: readonly ValidationCase[] = [
  ...[thresholds, rules, condorcet, paradox, delegation, sortition, latency, finality, crashes],
  ...[partitions, smallWorld, gossip, cascades, complexity, uplinks, stopping, rotation, sampling],
  ...[weightedMeans, boundedConfidence, pairs],
  ...[conformity, debates, earlyStop, correlation, agreement],
];
