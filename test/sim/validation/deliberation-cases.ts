/**
 * Cases about deliberations of mock models, which run as the included scenarios. Each row has the
 * runs of twenty seeds at full size, and an interval with a confidence of 99 %.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from '../../../dist/sim/run/simulate.js';
import { loadScenario } from '../../../dist/sim/scenario/load.js';
import type { Change } from '../../../dist/sim/scenario/problem.js';
import { csvRows } from '../../support/runs.js';
import {
  binomialTail,
  exactRow,
  meanInterval,
  meanOf,
  meanRow,
  type Row,
  type Size,
  scaled,
  type ValidationCase,
} from './case.js';

const CONFIDENCE = 0.99;

type Figures = Readonly<Record<string, number | null>>;

const seedsOf = (size: Size) =>
  Array.from({ length: scaled(size, 4, 20) }, (_, index) => `seed ${index + 1}`);

/** Runs an included scenario with each seed; returns the reported measures of each run. */
async function runs(name: string, changes: readonly Change[], size: Size): Promise<Figures[]> {
  const found: Figures[] = [];
  for (const seed of seedsOf(size)) {
    const { scenario, folder } = loadScenario(name, [...changes, ['sweep', null]]);
    const { reported } = await simulate(scenario, { seed, folder, log: 'none', audit: false });
    found.push(reported.run);
  }
  return found;
}

/** Compares the mean of a measure over the seeds with theory. */
async function meanOfRuns(
  what: string,
  theory: number,
  [name, measure, changes]: readonly [string, string, readonly Change[]],
  size: Size,
): Promise<Row> {
  const values = (await runs(name, changes, size)).map((figures) => figures[measure]!);
  return meanRow(what, theory, values, `${values.length} runs`, CONFIDENCE);
}

/** Compares a measure that theory determines, rounded to six decimals. */
async function exactInRuns(
  what: string,
  theory: number,
  [name, measure, changes]: readonly [string, string, readonly Change[]],
  size: Size,
): Promise<Row> {
  const values = (await runs(name, changes, size)).map((figures) => figures[measure]!);
  const far = values.reduce((a, b) => (Math.abs(a - theory) > Math.abs(b - theory) ? a : b));
  const [rounded, measured] = [theory, far].map((value) => Number(value.toFixed(6)));
  return exactRow(what, rounded!, measured!, `${values.length} runs`);
}

const AGENTS = 50;
const ROUNDS = 40;

/** Mean size of the lead in the second half of the rounds, from the Markov chain of the model. */
function orderOf(beta: number): number {
  let chance = binomial(0.5);
  let sum = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round >= ROUNDS / 2) {
      for (let k = 0; k <= AGENTS; k += 1) sum += chance[k]! * Math.abs(leadOf(k));
    }
    const next = new Array<number>(AGENTS + 1).fill(0);
    for (let k = 0; k <= AGENTS; k += 1) {
      const row = binomial((1 + Math.tanh(beta * leadOf(k))) / 2);
      for (let to = 0; to <= AGENTS; to += 1) next[to]! += chance[k]! * row[to]!;
    }
    chance = next;
  }
  return sum / (ROUNDS / 2);
}

const leadOf = (first: number): number => (2 * first - AGENTS) / AGENTS;

function binomial(p: number): number[] {
  const logs = [0];
  for (let k = 1; k <= AGENTS; k += 1) logs.push(logs[k - 1]! + Math.log((AGENTS + 1 - k) / k));
  return logs.map((log, k) => Math.exp(log + k * Math.log(p) + (AGENTS - k) * Math.log(1 - p)));
}

export const conformity: ValidationCase = {
  name: 'conformity',
  about:
    'Fifty agents that all see each other state the first of two values with probability (1 + ' +
    'tanh(b m)) / 2, all at once, at the lead m. The mean size of m is that of the Markov chain ' +
    'of the number of first values; in large groups it is 0 for b up to 1, .65857 for 1.2, ' +
    '.85856 for 1.5 and .957504 for 2. Intervals have 99 %.',
  source: 'De Marzo and others 2024, arXiv 2409.02822; the included scenario conformity',
  rows: (size) =>
    Promise.all(
      [0.8, 1.2, 1.5, 2].map((beta) => {
        const changes: Change[] = [['agents.town.strategy.beta', beta]];
        const what = `b = ${beta}: mean size of the lead`;
        return meanOfRuns(what, orderOf(beta), ['conformity', 'order', changes], size);
      }),
    ),
};

const jury = (count: number, p: number): Change[] => [
  ['agents.jury.count', count],
  ['agents.jury.strategy.p', p],
];

export const debates: ValidationCase = {
  name: 'debates',
  about:
    'The majority of independent models is a tail of the binomial distribution. In a debate, ' +
    'each model draws its answers from a belief to which the answers of the others are added. ' +
    'The mean belief is a martingale, so the debate changes no accuracy. Intervals have 99 %.',
  source: 'Choi and others 2025, arXiv 2508.17536; the scenarios jury and debate-or-vote',
  async rows(size) {
    const found: Row[] = [];
    for (const [count, p] of [
      [5, 0.6],
      [9, 0.7],
    ] as const) {
      const theory = binomialTail(count, p, (count + 1) / 2);
      const what = `${count} independent models, right with ${p}: majority right`;
      found.push(await meanOfRuns(what, theory, ['jury', 'majority_first', jury(count, p)], size));
    }
    for (const rounds of [2, 5]) {
      const changes: Change[] = [
        ['deliberation.rounds', rounds],
        ['length.blocks', scaled(size, 100, 400)],
      ];
      const what = `accuracy after ${rounds} rounds of a debate`;
      found.push(await meanOfRuns(what, 0.6, ['debate-or-vote', 'accuracy_last', changes], size));
    }
    return found;
  },
};

/** Expected number of answers until one side has a majority. */
function answersOf(agents: number, p: number): number {
  const most = (agents + 1) / 2;
  let mean = 0;
  // The last answer is the one that completes the majority.
  for (let calls = most; calls <= agents; calls += 1) {
    let ways = 1;
    for (let k = 1; k < most; k += 1) ways = (ways * (calls - k)) / k;
    const side = (q: number) => ways * q ** most * (1 - q) ** (calls - most);
    mean += calls * (side(p) + side(1 - p));
  }
  return mean;
}

export const earlyStop: ValidationCase = {
  name: 'early-stop',
  about:
    'Models answer one after the other until one side has a majority of all. The number of ' +
    'answers has a truncated negative binomial distribution. Intervals have 99 %.',
  source: 'the included scenario early-stop',
  async rows(size) {
    const found: Row[] = [];
    for (const [count, p] of [
      [5, 0.6],
      [5, 0.9],
      [9, 0.7],
    ] as const) {
      const changes: Change[] = [
        ['agents.quorum.count', count],
        ['agents.quorum.strategy.p', p],
      ];
      const what = `${count} models, right with ${p}: answers`;
      const measured = ['early-stop', 'statements', changes] as const;
      found.push(await meanOfRuns(what, answersOf(count, p), measured, size));
    }
    return found;
  },
};

/** Number of independent judges whose number of right answers varies as much. */
async function independentRow(count: number, rho: number, size: Size): Promise<Row> {
  const squares: number[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-validate-'));
  const p = 0.7;
  for (const seed of seedsOf(size)) {
    const loaded = loadScenario('correlated-judges', [
      ['agents.judges.count', count],
      ['agents.judges.strategy.rho', rho],
      ['sweep', null],
    ]);
    const out = join(folder, seed);
    await simulate(loaded.scenario, { seed, folder: loaded.folder, out, audit: false });
    const rows = csvRows(join(out, 'samples.csv'));
    squares.push(meanOf(rows.map(({ right_first }) => (Number(right_first) - count * p) ** 2)));
  }
  await rm(folder, { recursive: true, force: true });
  const toNumber = (variance: number) => (count * count * p * (1 - p)) / variance;
  const [low, high] = meanInterval(squares, CONFIDENCE);
  return {
    what: `${count} judges with correlation ${rho}: worth independent judges`,
    theory: count / (1 + (count - 1) * rho),
    measured: toNumber(meanOf(squares)),
    interval: [toNumber(high), toNumber(low)],
    from: `${squares.length} runs`,
  };
}

export const correlation: ValidationCase = {
  name: 'correlation',
  about:
    'The number of right answers of n judges, each pair with correlation rho, varies like that ' +
    'of n / (1 + (n - 1) rho) independent judges. Intervals have 99 %.',
  source: 'Kish 1965, Survey Sampling; the included scenario correlated-judges',
  rows: async (size) => [
    await independentRow(9, 0.4375, size),
    await independentRow(31, 0.3, size),
  ],
};

const ring = (count: number, rounds: number): Change[] => [
  ['agents.ring.count', count],
  ['deliberation.rounds', rounds],
  ['length.blocks', 1],
];

const filter = (model: string): Change[] => [
  ['agents.honest.strategy.model', model],
  ['length.blocks', 2],
];

const silent = (count: number): Change[] => [
  ['agents.honest.count', 4 - count],
  ['agents.silent.count', count],
  ['length.blocks', 5],
];

export const agreement: ValidationCase = {
  name: 'agreement',
  about:
    'Averaging on a ring of n shrinks the gap by (1 + 2 cos(2 pi / n)) / 3 in each round. Two ' +
    'liars among seven move plain averages out of the hull of the honest initial values, but not ' +
    'averages with the filter W-MSR, because n >= 3B + 1. In the game that ends once 66 % of ' +
    'four agents hold one value, agents that copy the smallest value agree after two rounds, ' +
    'also with one silent agent; with two it times out. Rows show the seed furthest from theory.',
  source:
    'DeGroot 1974, JASA 69(345); LeBlanc and others 2013, IEEE JSAC 31(4); arXiv 2603.01213; the ' +
    'scenarios averaging-ring, filtered-averaging and scalar-game',
  async rows(size) {
    const found: Row[] = [];
    for (const [count, rounds] of [
      [8, 60],
      [16, 200],
    ] as const) {
      const theory = (1 + 2 * Math.cos((2 * Math.PI) / count)) / 3;
      const measured = ['averaging-ring', 'gap_factor', ring(count, rounds)] as const;
      found.push(await exactInRuns(`ring of ${count}: gap factor`, theory, measured, size));
    }
    for (const [model, theory] of [
      ['averaging', 0],
      ['msr', 1],
    ] as const) {
      const measured = ['filtered-averaging', 'in_hull', filter(model)] as const;
      const what = `two liars of seven, ${model}: share inside the hull`;
      found.push(await exactInRuns(what, theory, measured, size));
    }
    for (const [count, measure, theory] of [
      [0, 'outcome_valid', 1],
      [0, 'deliberation_rounds', 2],
      [1, 'outcome_valid', 1],
      [2, 'outcome_timeout', 1],
    ] as const) {
      const measured = ['scalar-game', measure, silent(count)] as const;
      const what = `${count} of 4 agents silent: ${measure.replace('_', ' ')}`;
      found.push(await exactInRuns(what, theory, measured, size));
    }
    return found;
  },
};
