/** Conversion of ballots for rules that take another form, and polls from election data. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { convertBallot } from '../../../dist/sim/rules/ballot-conversion.js';
import { readElectionPoll } from '../../../dist/sim/rules/election-polls.js';
import { createRule } from '../../engine/rules/polls.js';
import { suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const block = { hash: '0'.repeat(64), height: 1, options: ['a', 'b', 'c', '__proto__'] };

function convert(policy: string, ballot: unknown) {
  const counts = { kept: 0, converted: 0, dropped: 0 };
  const found = convertBallot(createRule(policy), block, ballot, counts, 1);
  const use = Object.entries(counts).find(([, count]) => count === 1)?.[0];
  return [found, use];
}

test.each([
  ['plurality', { ranking: ['b', 'a'] }, { option: 'b' }],
  ['approval', { ranking: ['b', 'a'] }, { approved: ['b'] }],
  ['score', { ranking: ['b', 'a'] }, { scores: { b: 10 } }],
  ['borda', { option: 'c' }, { ranking: ['c'] }],
  ['borda', { approved: ['c'] }, { ranking: ['c'] }],
  ['plurality', { approved: ['c'] }, { option: 'c' }],
  ['score', { approved: ['c', 'a'] }, { scores: { c: 10, a: 10 } }],
  ['schulze', { scores: { a: 2, b: 7, c: 5 } }, { ranking: ['b', 'c', 'a'] }],
  ['schulze', { scores: { a: 2, b: 7, c: 2 } }, { ranking: ['b'] }],
  ['schulze', { scores: { a: 0, b: 7 } }, { ranking: ['b'] }],
  ['approval', { scores: { a: 7, b: 7, c: 5 } }, { approved: ['a', 'b'] }],
  ['score', { scores: { a: 70, b: 30 } }, { scores: { a: 10 } }],
])('convertBallot: for %s, converts %j', (policy, ballot, expected) => {
  expect(convert(policy, ballot)).toEqual([expected, 'converted']);
});

test.each([
  ['plurality', { approved: ['a', 'b'] }],
  ['borda', { approved: ['a', 'b'] }],
  ['borda', { approved: [] }],
  ['schulze', { scores: { a: 7, b: 7 } }],
  ['schulze', { ranking: ['x'] }],
  ['plurality', { delegate: `agent_${'0'.repeat(32)}` }],
  ['quadratic', { ranking: ['a'] }],
  ['liquid', { option: 'a' }],
  ['borda', { ranking: 'a' }],
  ['borda', 7],
  ['borda', null],
])('convertBallot: for %s, drops %j', (policy, ballot) => {
  expect(convert(policy, ballot)).toEqual([undefined, 'dropped']);
});

test('convertBallot: keeps a valid ballot, and ignores ballots that a rule does not take', () => {
  const ballot = { ranking: ['__proto__', 'a'] };
  expect(convert('borda', ballot)).toEqual([ballot, 'kept']);
  expect(convert('plurality', ballot)).toEqual([{ option: '__proto__' }, 'converted']);
  expect(convert('bft', ballot)).toEqual([undefined, undefined]);
  expect(convert('borda', undefined)).toEqual([undefined, undefined]);
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
  return readElectionPoll(file, most);
}

test('election data: orders become rankings, and tied first places approvals', () => {
  const text = `${head('toi', ['a', 'b', 'c'], 9, 3)}4: 2,1,3\n3: 3,{1,2}\n2: {1,2}\n`;
  const poll = read('ties.toi', text);
  expect(poll).toMatchObject({
    options: ['a', 'b', 'c'],
    recorded: null,
    votes: [
      { ballot: { ranking: ['b', 'a', 'c'] } },
      { ballot: { ranking: ['c'] } },
      { ballot: { approved: ['a', 'b'] } },
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

test('election data: long and equal names stay unique', () => {
  const long = 'x'.repeat(100);
  const names = [`${long}1`, `${long}2`, 'c'];
  const poll = read('names.soi', `${head('soi', names, 2, 1)}2: 2,1\n`);
  if ('problem' in poll) throw new Error(poll.problem);
  expect(new Set(poll.options).size).toBe(3);
  expect(poll.options.every(({ length }) => length <= 64)).toBe(true);
});

test('election data: an error names its line', () => {
  const broken = read('broken.soc', `${head('soc', ['a', 'b'], 1, 1)}1: 1,1\n`);
  expect(broken).toMatchObject({ problem: expect.stringMatching(/line 9/) });
  const none = readElectionPoll(join(folder, 'none.pb'), undefined);
  expect(none).toMatchObject({ problem: expect.stringContaining('ENOENT') });
});
