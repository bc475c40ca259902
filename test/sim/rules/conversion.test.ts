/** Conversion of ballots for rules that take another form, and polls from election data. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BallotMaker,
  findMostPoints,
  labelOptions,
  nameOptions,
  type TieBreak,
} from '../../../dist/sim/elections/rule-ballots.js';
import { readElectionPoll } from '../../../dist/sim/rules/election-polls.js';
import { createRule } from '../../engine/rules/polls.js';
import { fc, forAll } from '../../support/property.js';
import { suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const block = { hash: '0'.repeat(64), height: 1, options: ['a', 'b', 'c', '__proto__'] };

function convert(policy: string, ballot: unknown, ties: TieBreak = 'refuse') {
  const points = findMostPoints([ballot]);
  const maker = new BallotMaker(createRule(policy), { ties, points });
  const { use, ballot: found } = maker.convert(ballot, block.options, block);
  return [found, use];
}

test.each([
  ['plurality', { ranking: ['b', 'a'] }, { option: 'b' }],
  ['plurality', { ranking: ['b', ['a', 'c']] }, { option: 'b' }],
  ['approval', { ranking: ['b', 'a'] }, { approved: ['b'] }],
  ['approval', { ranking: [['c', 'b'], 'a'] }, { approved: ['b', 'c'] }],
  ['score', { ranking: ['b', 'a'] }, { scores: { b: 10, a: 6 } }],
  ['score', { ranking: [['b', 'a'], 'c'] }, { scores: { a: 10, b: 10, c: 3 } }],
  ['borda', { option: 'c' }, { ranking: ['c'] }],
  ['borda', { approved: ['c'] }, { ranking: ['c'] }],
  ['borda', { approved: ['b', 'a'] }, { ranking: [['a', 'b']] }],
  ['instant_runoff', { ranking: ['b', ['a', 'c', '__proto__']] }, { ranking: ['b'] }],
  ['plurality', { approved: ['c'] }, { option: 'c' }],
  ['score', { approved: ['c', 'a'] }, { scores: { a: 10, c: 10, b: 0, ['__proto__']: 0 } }],
  ['schulze', { scores: { a: 2, b: 7, c: 5 } }, { ranking: ['b', 'c', 'a'] }],
  ['schulze', { scores: { a: 2, b: 7, c: 2 } }, { ranking: ['b', ['a', 'c']] }],
  ['schulze', { scores: { a: 0, b: 7 } }, { ranking: ['b'] }],
  ['approval', { scores: { a: 7, b: 7, c: 5 } }, { approved: ['a', 'b'] }],
  ['score', { scores: { a: 70, b: 30 } }, { scores: { a: 10, b: 4, c: 0, ['__proto__']: 0 } }],
])('BallotMaker: for %s, converts %j', (policy, ballot, expected) => {
  expect(convert(policy, ballot)).toEqual([expected, 'converted']);
});

test.each([
  ['plurality', { approved: ['b', 'a'] }, { option: 'a' }],
  ['instant_runoff', { approved: ['b', 'a'] }, { ranking: ['a', 'b'] }],
  ['instant_runoff', { ranking: ['c', ['b', 'a']] }, { ranking: ['c', 'a', 'b'] }],
  ['instant_runoff', { scores: { a: 7, b: 7 } }, { ranking: ['a', 'b'] }],
])('BallotMaker: for %s, ties of %j follow the options only if that is allowed', (...given) => {
  const [policy, ballot, expected] = given;
  expect(convert(policy, ballot, 'list')).toEqual([expected, 'listed']);
  expect(convert(policy, ballot, 'drop')).toEqual([undefined, 'tied']);
  expect(convert(policy, ballot)).toEqual([undefined, 'tied']);
});

test.each([
  ['borda', { approved: [] }, 'indifferent'],
  ['plurality', { approved: [] }, 'indifferent'],
  ['plurality', { scores: { a: 0 } }, 'indifferent'],
  ['instant_runoff', { ranking: [['a', 'b', 'c', '__proto__']] }, 'indifferent'],
  ['schulze', { ranking: ['x'] }, 'indifferent'],
  ['schulze', { scores: { a: -1, b: 7 } }, 'dropped'],
  ['schulze', { scores: { a: 0.5, b: 7 } }, 'dropped'],
  ['schulze', { ranking: ['a', ['b', 'a']] }, 'dropped'],
  ['plurality', { delegate: `agent_${'0'.repeat(32)}` }, 'dropped'],
  ['quadratic', { ranking: ['a'] }, 'dropped'],
  ['liquid', { option: 'a' }, 'dropped'],
  ['borda', { ranking: 'a' }, 'dropped'],
  ['borda', 7, 'dropped'],
  ['borda', null, 'dropped'],
])('BallotMaker: for %s, %j counts as no ballot', (policy, ballot, use) => {
  expect(convert(policy, ballot)).toEqual([undefined, use]);
});

test('BallotMaker: keeps a valid ballot', () => {
  const ballot = { ranking: ['__proto__', 'a'] };
  expect(convert('borda', ballot)).toEqual([ballot, 'kept']);
  expect(convert('plurality', ballot)).toEqual([{ option: '__proto__' }, 'converted']);
});

test('BallotMaker: all scores of a count have one scale, which keeps their order', () => {
  const scores = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const ballots = fc.array(fc.record({ a: scores, b: scores, c: scores }), { minLength: 1 });
  const rule = createRule('score');
  forAll([ballots], (all) => {
    const points = findMostPoints(all.map((one) => ({ scores: one })));
    const maker = new BallotMaker(rule, { ties: 'refuse', points });
    expect(maker.scale).toEqual(points <= 10 ? null : { from: points, to: 10 });
    for (const one of all) {
      const made = maker.convert({ scores: one }, block.options, block).ballot as {
        scores: Record<string, number>;
      };
      for (const [name, score] of Object.entries(one)) {
        const expected = points <= 10 ? score : Number((BigInt(score) * 10n) / BigInt(points));
        expect(made.scores[name]).toBe(expected);
      }
    }
  });
});

/** Names that differ only in what a shortened or plain name loses. */
const collidingNames = fc.uniqueArray(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc
      .tuple(
        fc.constantFrom('A', 'é', '-', '\ud800', '😀'),
        fc.nat({ max: 90 }),
        fc.nat({ max: 20 }),
      )
      .map(([letter, count, at]) => `${letter.repeat(count)}${at % 2 ? ` #${at}` : `-${at}`}`),
  ),
  { maxLength: 40 },
);

test('nameOptions: names are unique, valid and short for all alternatives', () => {
  const shortened = ['A'.repeat(80), `${'A'.repeat(56)} #2`, `${'A'.repeat(61)} #1`, 'B'];
  expect(new Set(nameOptions(shortened, false)).size).toBe(4);
  expect(new Set(nameOptions(shortened, true)).size).toBe(4);
  forAll([collidingNames, fc.boolean()], { numRuns: 1_000 }, (alternatives, isPlain) => {
    const names = nameOptions(alternatives, isPlain);
    expect(new Set(names).size).toBe(alternatives.length);
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(64);
      expect(name).not.toBe('');
      if (isPlain) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    }
    const labels = labelOptions(names, alternatives);
    expect(names.map((n) => (Object.hasOwn(labels, n) ? labels[n] : n))).toEqual(alternatives);
  });
});

const head = (type: string, names: readonly string[], voters: number, orders: number) =>
  [
    ['# FILE NAME', `t.${type}`],
    ['# TITLE', 'Test'],
    ['# DATA TYPE', type],
    ['# NUMBER ALTERNATIVES', names.length],
    ['# NUMBER VOTERS', voters],
    ['# NUMBER UNIQUE ORDERS', orders],
    ...names.map((name, at) => [`# ALTERNATIVE NAME ${at + 1}`, name]),
  ]
    .map(([key, value]) => `${key}: ${value}\n`)
    .join('');

function read(name: string, text: string, most?: number) {
  const file = join(folder, name);
  writeFileSync(file, text);
  const found = readElectionPoll(file, { most });
  return 'problem' in found ? found : found.poll;
}

test('election data: orders become rankings with their ties', () => {
  const text = `${head('toi', ['a', 'b', 'c'], 9, 3)}4: 2,1,3\n3: 3,{1,2}\n2: {1,2}\n`;
  const poll = read('ties.toi', text);
  expect(poll).toMatchObject({
    options: ['a', 'b', 'c'],
    recorded: null,
    votes: [
      { ballot: { ranking: ['b', 'a', 'c'] } },
      { ballot: { ranking: ['c', ['a', 'b']] } },
      { ballot: { ranking: [['a', 'b']] } },
    ],
    electors: [{ weight: 4, voters: 4 }, { weight: 3 }, { weight: 2 }],
  });
});

test('election data: more than 16 alternatives need a limit, which keeps the leading ones', () => {
  const names = Array.from({ length: 20 }, (_, at) => `option ${at}`);
  const rest = names.map((_, at) => at + 1).filter((one) => one !== 20 && one !== 7);
  const orders = [`5: 20,7,${rest}`, `3: 7,20,${rest}`];
  const text = `${head('soc', names, 8, 2)}${orders.join('\n')}\n`;
  expect(read('large.soc', text)).toMatchObject({ problem: expect.stringContaining('--options') });
  const poll = read('large.soc', text, 2);
  expect(poll).toMatchObject({
    options: ['option 6', 'option 19'],
    votes: [
      { ballot: { ranking: ['option 19', 'option 6'] } },
      { ballot: { ranking: ['option 6', 'option 19'] } },
    ],
  });
});

test('election data: voters with the same ballot are one elector, labels keep long names', () => {
  const long = 'x'.repeat(100);
  const rows = ['1;p,q', '2;q', '3;p,q', '4;'];
  const text = [
    ...['META', 'key;value', 'vote_type;approval', 'PROJECTS', 'project_id;name'],
    ...[`p;${long}`, 'q;Zoë', 'VOTES', 'voter_id;vote', ...rows, ''],
  ].join('\n');
  const name = `${'x'.repeat(64)}`;
  expect(read('votes.pb', text)).toMatchObject({
    options: [name, 'Zoë'],
    labels: { [name]: long },
    electors: [{ voters: 2, weight: 2, name: 'votes.pb:10' }, { voters: 1 }, { voters: 1 }],
    votes: [
      { ballot: { approved: [name, 'Zoë'] } },
      { ballot: { approved: ['Zoë'] } },
      { ballot: { approved: [] } },
    ],
  });
});

test('election data: an error names its line', () => {
  const broken = read('broken.soc', `${head('soc', ['a', 'b'], 1, 1)}1: 1,1\n`);
  expect(broken).toMatchObject({ problem: expect.stringMatching(/line 9/) });
  const none = readElectionPoll(join(folder, 'none.pb'));
  expect(none).toMatchObject({ problem: expect.stringContaining('ENOENT') });
});
