/**
 * Wrong implementations of decision rules: on the polls of the conformance suite, each has another
 * choice, other standings or another decision than the suite expects.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { VoteRule } from '../../../dist/engine/rules/rule.js';
import { type Case, vectorCases } from '../../../dist/sim/conformance/cases.js';
import { playCase } from '../../../dist/sim/conformance/harness.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../tidy/sources.js';
import type { Mutant } from '../audit/mutants-terms.js';

type Mistake = readonly [name: string, find: string, becomes: string];

const mistakesIn = (file: string, list: readonly Mistake[]): Mutant[] =>
  list.map(([name, find, becomes]) => {
    return { name: `${file}: ${name}`, file: `rules/${file}.js`, find, becomes };
  });

/** Mistakes in rules that choose, and in the threshold of a committee. */
const mistakes: Mutant[] = [
  ...mistakesIn('library/instant_runoff', [
    ['the first of several worst options goes', 'worst.at(-1)', 'worst[0]'],
    ['counts on after a majority', '2 * weights[best[0]] > cast || ', ''],
    ['half is a majority', 'weights[best[0]] > cast', 'weights[best[0]] >= cast'],
    [
      'exhausted ballots stay in the total',
      'weights[best[0]] > cast',
      'weights[best[0]] > rankings.reduce((sum, one) => sum + one.weight, 0)',
    ],
  ]),
  ...mistakesIn('library/schulze', [
    ['the last unbeaten option wins', 'unbeaten, ', 'unbeaten.reverse(), '],
    ['always by margins', 'margins === 1', 'true'],
    ['never by margins', 'margins === 1', 'false'],
  ]),
  ...mistakesIn('library/ranked_pairs', [
    ['the second key is reversed', 'one.against - other.against', 'other.against - one.against'],
    ['no second key', ' || one.against - other.against', ''],
    [
      'the loser before the winner',
      'one.against - other.against',
      'one.against - other.against || one.loser - other.loser',
    ],
    ['the last unbeaten option wins', 'findTop(above)[0]', 'findTop(above).at(-1)'],
    ['always by margins', 'margins === 1', 'true'],
    ['never by margins', 'margins === 1', 'false'],
  ]),
  ...mistakesIn('library/borda', [
    [
      'points by place',
      'pairs.map((row) => row.reduce((sum, weight) => sum + weight, 0))',
      `options.map((_, option) => rankings.reduce((sum, { weight, ballot: tiers }) => {
        const at = tiers.findIndex((tier) => tier.includes(option));
        return at < 0 ? sum : sum + weight * (options.length - 1 - at);
      }, 0))`,
    ],
  ]),
  ...mistakesIn('library/proportional', [
    ['weights 1 / (2k + 1)', '/ (elected + 1)', '/ (2 * elected + 1)'],
    ['full weights', '/ (elected + 1)', ''],
  ]),
  ...mistakesIn('library/committee', [
    ['always a share of the seats drawn', 'of_drawn === 1', 'true'],
    ['always a share of the expected seats', 'of_drawn === 1', 'false'],
  ]),
  ...mistakesIn('election', [
    ['the list breaks ties', 'tier of tiers)', 'tier of tiers.flat().map((one) => [one]))'],
    [
      'a ranking ends at its first tie',
      'tier of tiers)',
      'tier of tiers.filter((_, at) => tiers.slice(0, at + 1).every((one) => one.length === 1)))',
    ],
    [
      'equal options count for each other',
      'weight * below[worse]',
      'weight * Number(below[worse] || (worse !== better && tier.includes(worse)))',
    ],
  ]),
];

type Poll = Parameters<VoteRule['tally']>[0];

interface CountedPoll {
  poll: Poll;
  /** Decision, choice and standings that the suite expects. */
  expected: object;
}

/** Members of the events from which the polls are built. */
interface Told {
  agent_id: string;
  block_hash: string;
  height: number;
  options?: string[];
  decision: 'approve' | 'reject';
  ballot?: unknown;
  validator: { id: string };
  status: string;
  choice?: string;
  standings?: Record<string, number>;
}

/** Returns the polls of a case whose electors all have the weight 1. */
async function pollsOf(one: Case): Promise<CountedPoll[]> {
  const { expected } = await playCase(one);
  const polls = new Map<string, CountedPoll>();
  const ids: string[] = [];
  for (const { events } of expected.flatMap(({ entries }) => entries)) {
    for (const { type, data } of events as { type: string; data: Told }[]) {
      if (type === 'agent_status' && !ids.includes(data.agent_id)) ids.push(data.agent_id);
      const { block_hash: hash, height, options = [], decision, ballot, validator } = data;
      if (type === 'block_proposal') {
        const electors = ids.map((_, agent) => ({ agent, weight: 1 }));
        polls.set(hash, {
          poll: { block: { hash, height, options }, electors, votes: [], over: true },
          expected: {},
        });
      }
      const known = polls.get(hash);
      if (type === 'block_validation') {
        const elector = ids.indexOf(validator.id);
        const vote = { elector, agent_id: validator.id, decision, ms: 0 };
        (known!.poll.votes as object[]).push(ballot === undefined ? vote : { ...vote, ballot });
      }
      if (type !== 'block_status') continue;
      const { status, choice, standings } = data;
      known!.expected = JSON.parse(JSON.stringify({ status, choice, standings }));
    }
  }
  return [...polls.values()];
}

/** Loads a rule from a copy of the build in which a mistake may be seeded. */
async function loadRule(name: string, mistake: Mutant | null): Promise<VoteRule> {
  const folder = temporaryFolder();
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const part of ['dist/engine/rules', 'dist/engine/protocol']) {
    const filter = (path: string) => !/\.(map|d\.ts|wasm)$/.test(path);
    cpSync(join(root, part), join(folder, part), { recursive: true, filter });
  }
  if (mistake) {
    const path = join(folder, 'dist/engine', mistake.file);
    const parts = readFileSync(path, 'utf8').split(mistake.find);
    expect(parts, mistake.name).toHaveLength(2);
    writeFileSync(path, parts.join(mistake.becomes));
  }
  const path = join(folder, 'dist/engine/rules/library', `${name}.js`);
  const { rule } = (await import(pathToFileURL(path).href)) as { rule: VoteRule };
  return rule;
}

const names = [
  ...['borda', 'committee', 'instant_runoff', 'proportional', 'ranked_pairs', 'schulze'],
] as const;

test.each(names)('vectors: detect each wrong implementation of %s', async (name) => {
  const cases = vectorCases().filter(({ genesis = {}, name: title }) => {
    const isCount = /^(count-|rule-committee-)/.test(title);
    return isCount && genesis.policy === name && (genesis.weights ?? 'equal') === 'equal';
  });
  const right = await loadRule(name, null);
  const polls: (CountedPoll & { values: Record<string, number> })[] = [];
  for (const one of cases) {
    const standard = Object.entries(right.parameters).map(([of, one]) => [of, one.default]);
    const values = { ...Object.fromEntries(standard), ...one.genesis!.rule!.parameters };
    polls.push(...(await pollsOf(one)).map((poll) => ({ ...poll, values })));
  }
  const agrees = (rule: VoteRule) =>
    polls.every(({ poll, expected, values }) => {
      return JSON.stringify(sorted(rule.tally(poll, values))) === JSON.stringify(sorted(expected));
    });
  expect(polls.length).toBeGreaterThan(1);
  expect(agrees(right)).toBe(true);
  const ranked = ['borda', 'ranked_pairs', 'schulze'].includes(name);
  const own = mistakes.filter(
    ({ file }) => basename(file, '.js') === name || (ranked && file.includes('election')),
  );
  const missed: string[] = [];
  for (const mistake of own) {
    if (agrees(await loadRule(name, mistake))) missed.push(mistake.name);
  }
  expect(own.length).toBeGreaterThan(0);
  expect(missed).toEqual([]);
});

/** Returns the verdict with its members and standings in order of names. */
const sorted = (verdict: object): unknown =>
  Object.entries(verdict)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => [name, typeof value === 'object' ? sorted(value) : value]);
