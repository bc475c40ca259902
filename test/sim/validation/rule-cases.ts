/** Cases about decision rules: thresholds, committees, the Condorcet paradox and delegation. */

import { comparePairs } from '../../../dist/engine/rules/election.js';
import { Streams } from '../../../dist/sim/rng.js';
import {
  agentId,
  createRule,
  decidePoll,
  hashOf,
  multisets,
  ORDERS,
  rankWeight,
  type TestVote,
  tallyPoll,
} from '../../engine/rules/polls.js';
import {
  binomialTail,
  blocksOf,
  exactRow,
  finalizedOf,
  meanRow,
  type Row,
  type Size,
  scaled,
  shareRow,
  type ValidationCase,
  whim,
  whimOf,
} from './case.js';

interface Trial {
  policy: string;
  parameters: Record<string, number>;
  electors: number;
  threshold: number;
}

/** Simulates blocks on which each elector approves with the same probability. */
async function finalizedRow(name: string, theory: number, trial: Trial, blocks: number) {
  const { policy, parameters, electors, threshold } = trial;
  const found = await blocksOf({
    agents: [{ group: 'town', count: electors, producers: 1, traits: whim(threshold) }],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy, rule: { parameters }, dormant_after: 0 },
    length: { blocks },
  });
  const probability = whimOf(threshold).toFixed(4);
  const what = `${name}, each approves with probability ${probability}: share finalized`;
  return shareRow(what, theory, [finalizedOf(found), found.length], 'blocks');
}

const COMMITTEE = { electors: 60, size: 20 };

/**
 * Returns the probability that more than two thirds of the seats approve. Each elector has an
 * approving seat, a rejecting seat or no seat.
 */
function committeeTheory(approves: number): number {
  const { electors, size } = COMMITTEE;
  const seat = size / electors;
  let sum = 0;
  for (let seats = 1; seats <= electors; seats += 1) {
    const drawn = binomialTail(electors, seat, seats) - binomialTail(electors, seat, seats + 1);
    sum += drawn * binomialTail(seats, approves, Math.floor((6_667 * seats) / 10_000) + 1);
  }
  return sum;
}

async function ruleRows(size: Size): Promise<Row[]> {
  const blocks = scaled(size, 100, 2_000);
  const rows: Row[] = [];
  for (const threshold of [36, 40, 44]) {
    const trial = { policy: 'threshold', parameters: { for_bps: 6_000 }, electors: 31, threshold };
    const theory = binomialTail(31, whimOf(threshold), 19);
    rows.push(await finalizedRow('threshold of 60 % of 31', theory, trial, blocks));
  }
  const single = { policy: 'unanimity', parameters: {}, electors: 7, threshold: 10 };
  rows.push(await finalizedRow('unanimity of 7', whimOf(10) ** 7, single, blocks));
  for (const threshold of [24, 34]) {
    const { electors, size: seats } = COMMITTEE;
    const trial = { policy: 'committee', parameters: { size: seats }, electors, threshold };
    const theory = committeeTheory(whimOf(threshold));
    rows.push(await finalizedRow('committee of 20 among 60', theory, trial, blocks));
  }
  return rows;
}

export const rules: ValidationCase = {
  name: 'rules',
  about:
    'Electors approve independently with the same probability. More than 60 % of 31 electors ' +
    'is 19 or more, and unanimity needs all. With `committee`, the block hash gives each of 60 ' +
    'electors a seat with probability 1/3, and more than two thirds of the seats must approve.',
  source: 'binomial distribution',
  rows: ruleRows,
};

const factorial = (number: number): number => (number < 2 ? 1 : number * factorial(number - 1));

/** Returns the option that beats every other option in pairs, or undefined. */
function findCondorcetWinner(counts: readonly number[]): string | undefined {
  const rankings = counts.map((weight, kind) => {
    return { weight, ballot: [...ORDERS[kind]!].map((name) => ['abc'.indexOf(name)]) };
  });
  const pairs = comparePairs(rankings, 3);
  const winner = pairs.findIndex((row, a) => row.every((won, b) => a === b || won > pairs[b]![a]!));
  return 'abc'[winner];
}

function isElected(policy: string, winner: string, counts: readonly number[]): boolean {
  const votes = counts.flatMap((weight, kind) =>
    weight > 0 ? [rankWeight(weight, ...ORDERS[kind]!)] : [],
  );
  return decidePoll(createRule(policy), { options: ['a', 'b', 'c'], votes }).choice === winner;
}

const CONDORCET_RULES = ['schulze', 'ranked_pairs'];

function paradoxRows(voters: number, theory: number): Row[] {
  const elections = 6 ** voters;
  let paradoxes = 0;
  const elected = new Map(CONDORCET_RULES.map((policy) => [policy, 0]));
  for (const counts of multisets(voters, ORDERS.length)) {
    const ways = counts.reduce((left, count) => left / factorial(count), factorial(voters));
    const winner = findCondorcetWinner(counts);
    if (winner === undefined) paradoxes += ways;
    else {
      for (const policy of CONDORCET_RULES) {
        if (isElected(policy, winner, counts)) elected.set(policy, elected.get(policy)! + ways);
      }
    }
  }
  const from = `${elections} elections`;
  const none = `${voters} voters, three options: share without a Condorcet winner`;
  return [
    exactRow(none, theory, paradoxes / elections, from),
    ...[...elected].map(([policy, count]) => {
      const what = `${voters} voters: Condorcet winners that ${policy} chooses`;
      return exactRow(what, 1, count / (elections - paradoxes), from);
    }),
  ];
}

export const paradox: ValidationCase = {
  name: 'paradox',
  about:
    'Each voter has one of the six rankings of three options with the same probability. All ' +
    'elections are counted. The share without an option that beats both others in pairs is ' +
    '1/18, 5/72, 875/11664 and 65485/839808 with 3, 5, 7 and 9 voters. The rules `schulze` ' +
    'and `ranked_pairs` choose the option that beats both others, if there is one.',
  source:
    'Gehrlein and Fishburn 1976, The probability of the paradox of voting: a computable ' +
    'solution, Journal of Economic Theory 13',
  rows: async (size) => {
    const known: [voters: number, theory: number][] = [
      [3, 1 / 18],
      [5, 5 / 72],
      [7, 875 / 11_664],
      [9, 65_485 / 839_808],
    ];
    return known.slice(0, scaled(size, 2, 4)).flatMap((one) => paradoxRows(...one));
  },
};

const STAR = { leaves: 100, center: 0.7, leaf: 0.6 };

/** Draws the votes of a star and decides them with the rule `liquid`. */
function starRow(isDelegating: boolean, theory: number, polls: number): Row {
  const rule = createRule('liquid');
  const rng = new Streams('liquid').of('world', isDelegating ? 'delegated' : 'direct');
  const ballot = isDelegating ? { ballot: { delegate: agentId(0) } } : {};
  let right = 0;
  for (let poll = 0; poll < polls; poll += 1) {
    const votes = Array.from({ length: STAR.leaves + 1 }, (_, agent): TestVote => {
      const isRight = rng.chance(agent === 0 ? STAR.center : STAR.leaf);
      return { decision: isRight ? 'approve' : 'reject', ...(agent === 0 ? {} : ballot) };
    });
    if (decidePoll(rule, { options: [], votes }).status === 'finalized') right += 1;
  }
  const what = `star of 101, ${isDelegating ? 'all leaves delegate' : 'all vote'}: share right`;
  return shareRow(what, theory, [right, polls], 'polls');
}

export const delegation: ValidationCase = {
  name: 'delegation',
  about:
    'The center of a star is right with probability 0.7, and each of 100 leaves with 0.6. If ' +
    'all vote, the majority is right more often than the center. If all leaves delegate to ' +
    'the center with the rule `liquid`, the decision is that of the center.',
  source:
    'Kahng, Mackenzie and Procaccia 2021, Liquid democracy: an algorithmic perspective, Journal ' +
    'of Artificial Intelligence Research 70; binomial distribution',
  rows: async (size) => {
    const { leaves, center, leaf } = STAR;
    const direct =
      center * binomialTail(leaves, leaf, 50) + (1 - center) * binomialTail(leaves, leaf, 51);
    const polls = scaled(size, 500, 10_000);
    return [starRow(false, direct, polls), starRow(true, center, polls)];
  },
};

/** Four fifths of the units of weight are honest. */
const SORTITION = { units: 1_000, size: 100, honest: 0.8, for_bps: 6_850 };

/** Draws committees with the rule `committee`: electors of weight 1 and of weight 50. */
function sortitionRows(size: Size): Row[] {
  const draws = scaled(size, 200, 4_000);
  const { units, size: seats, honest, for_bps } = SORTITION;
  const rule = createRule('committee', { size: seats, for_bps, of_drawn: 0 });
  const votes: TestVote[] = [
    ...Array.from({ length: 400 }, () => ({})),
    ...Array.from({ length: 8 }, () => ({ weight: 50 })),
    ...Array.from({ length: 4 }, () => ({ weight: 50, decision: 'reject' as const })),
  ];
  const verdicts = Array.from({ length: draws }, (_, block) =>
    tallyPoll(rule, { options: [], votes, hash: hashOf(`sortition ${block}`) }, true),
  );
  const drawn = verdicts.map(({ standings }) => standings!.seats!);
  const finalized = verdicts.filter(({ status }) => status === 'finalized').length;
  const chance = seats / units;
  const from = `${draws} committees`;
  const least = Math.floor((for_bps * seats) / 10_000) + 1;
  const variance = units * chance * (1 - chance);
  const squares = drawn.map((one) => (one - seats) ** 2);
  const what = '800 of 1000 units approve: share with 69 or more approving seats';
  // Counts the units without a seat, because the chance of no seat never underflows.
  const theory = 1 - binomialTail(units * honest, 1 - chance, units * honest - least + 1);
  return [
    meanRow('100 expected of 1000 units: mean seats', seats, drawn, from),
    meanRow('100 expected of 1000 units: variance of the seats', variance, squares, from),
    shareRow(what, theory, [finalized, draws], 'committees'),
  ];
}

export const sortition: ValidationCase = {
  name: 'sortition',
  about:
    'The rule `committee` draws each unit of weight with the same probability, so the numbers of ' +
    'seats are binomial. Here 100 seats are expected, and more than 0.685 of that number must ' +
    'approve. With 2,000 seats, as in Algorand, a committee with four fifths of honest ' +
    'weight fails with a probability below 5e-9, which a test computes.',
  source: 'Gilad et al. 2017, Algorand, SOSP 17, section 7.5; binomial distribution',
  rows: async (size) => sortitionRows(size),
};
