/** Two results side by side: figures, changes, warnings, and how the command ends. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compare } from '../../../../dist/bench/load/figures/compare.js';
import { writeLoad } from '../../../../dist/bench/load/files/index.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { type Ended, expectOneLine, folkmoot } from '../../../support/cli.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult, saturation } from '../fixture.js';

const slower = (changes: Partial<LoadResult> = {}) => loadResult({ seed: 2, medianMs: 8 }, changes);

const figure = (a: LoadResult, b: LoadResult, name: string) =>
  compare(a, b).figures.find((one) => one.figure === name);

test('compare: every figure of both, with its change', () => {
  const [a, b] = [loadResult(), slower()];
  const { usable, warnings, figures, r } = compare(a, b);
  expect([usable, warnings, r]).toEqual([
    true,
    [],
    { a: 12_400, b: 12_400, change: 0, moved: false, scaled: false },
  ]);
  expect(figures.map((one) => one.figure)).toEqual([
    'accepted_per_s',
    'errors',
    ...['vote', 'vote.service'].flatMap((scope) =>
      ['p50', 'p90', 'p95', 'p99', 'p999', 'max'].map((name) => `${scope}.${name}`),
    ),
  ]);
  const [before, after] = [a, b].map(({ operations }) => operations[0]!.response.p50!);
  expect(figure(a, b, 'vote.p50')).toEqual({
    figure: 'vote.p50',
    unit: 'ms',
    a: before,
    b: after,
    change: after! / before! - 1,
  });
});

test('compare: what only one of them has is shown, and has no change', () => {
  const [a, b] = [loadResult(), loadResult({ operations: ['vote', 'propose'], workload: 'mixed' })];
  expect(figure(a, b, 'propose.p99')).toMatchObject({ a: null, change: null });
  expect(figure(a, b, 'tps')).toMatchObject({ a: null, b: 990, change: null });
  expect(figure(b, a, 'finality.p50')).toMatchObject({ b: null, change: null });
  expect(figure(a, b, 'propose.errors')).toMatchObject({ unit: 'share', a: null });
});

test('compare: what was sent beside the schedule is none of its figures', () => {
  const beside = loadResult({ operations: ['propose', 'vote (beside)'] });
  const names = compare(beside, beside).figures.map((one) => one.figure);
  expect(names).toContain('propose.p99');
  expect(names.filter((name) => name.startsWith('vote'))).toEqual([]);
});

const closed = (more: Partial<LoadResult> = {}) => {
  const { asked } = loadResult();
  const loop = { ...asked, rate: null, concurrency: 8, loop: 'closed' } as const;
  return loadResult({}, { asked: loop, ...more });
};

test.each([
  ['closed loop', closed],
  ['saturation', (more = {}) => loadResult({}, { saturation: saturation(), ...more })],
])('compare: %s: at another speed of the machine, changes are of the ratios to R', (_, made) => {
  const a = made();
  const alike = compare(a, made({ r: a.r! * 1.09 }));
  expect(alike.r.moved).toBe(false);
  expect(alike.figures.filter(({ change }) => change !== 0)).toEqual([]);
  const b = made({ r: a.r! * 2 });
  const { r, warnings } = compare(a, b);
  expect(r).toMatchObject({ change: 1, moved: true, scaled: true });
  expect(warnings).toEqual([
    "the machine's speed moved by more than 10 % (R, 12,400/s in A and 24,800/s in B): changes " +
      "are of the figures' ratios to R",
  ]);
  expect(figure(a, b, 'accepted_per_s')!.change).toBeCloseTo(-0.5);
  expect(figure(a, b, 'vote.p99')!.change).toBeCloseTo(1);
  expect(figure(a, b, 'errors')!.change).toBe(0);
});

test('compare: open loop: two equal runs are equal, however fast the machine was', () => {
  const a = loadResult();
  const b = loadResult({}, { r: a.r! * 1.4 });
  const { r, warnings, figures } = compare(a, b);
  expect(r).toMatchObject({ moved: true, scaled: false });
  expect(warnings[0]).toMatch(/: changes are of the figures as they are, since the rate was asked/);
  expect(figures.filter(({ change }) => change !== 0)).toEqual([]);
});

test('compare: open loop: rates are compared as shares of what was asked for', () => {
  const a = loadResult();
  const { asked, arrivals } = a;
  const twice = { ...arrivals, accepted_per_s: 2 * arrivals.accepted_per_s };
  const b = loadResult({}, { asked: { ...asked, rate: 2_000 }, arrivals: twice });
  expect(figure(a, b, 'accepted_per_s')!.change).toBeCloseTo(0);
  const half = loadResult({}, { asked: { ...asked, rate: 2_000 } });
  expect(figure(a, half, 'accepted_per_s')!.change).toBeCloseTo(-0.5);
});

test('command: two equal runs do not make CI red when the machine became faster', async () => {
  const a = loadResult({ operations: ['vote', 'propose'], workload: 'transactions' });
  const conditions = 'tps<-10%,accepted_per_s<-10%,p99>+10%';
  const { code, stdout } = await command(a, { ...a, r: a.r! * 1.4 }, '--fail-on', conditions);
  expect(code, stdout).toBe(0);
});

test('compare: warns of what was asked, of other servers, and of verdicts', () => {
  const a = loadResult();
  const b = loadResult(
    {},
    {
      asked: { ...a.asked, rate: null, concurrency: 8, loop: 'closed', batch: 10 },
      server: { ...a.server, durable: false, limits_profile: null, version: '0.2.0' },
      verdict: 'INVALID',
      reasons: ['80 % was accepted', 'and so on'],
      ended: 'interrupted',
      r: null,
    },
  );
  const { usable, warnings, r } = compare(a, b);
  expect(usable).toBe(false);
  expect(r).toEqual({ a: 12_400, b: null, change: null, moved: false, scaled: false });
  expect(warnings).toEqual([
    'B is INVALID: 80 % was accepted; and so on',
    'B did not end as planned: it was interrupted after 10 of 10 s',
    'R is not known of both: whether the machine was as fast cannot be said',
    'loop differs: open in A, closed in B',
    'rate differs: 1000 in A, none in B',
    'concurrency differs: none in A, 8 in B',
    'batch differs: 0 in A, 10 in B',
    'limits_profile differs: bench in A, none in B',
    'durable differs: true in A, false in B',
  ]);
});

async function command(a: LoadResult, b: LoadResult, ...args: string[]): Promise<Ended> {
  const folder = temporaryFolder();
  await writeLoad(a, join(folder, 'a'));
  writeFileSync(join(folder, 'b.json'), JSON.stringify(b));
  return folkmoot(['load', 'compare', join(folder, 'a'), join(folder, 'b.json'), ...args]);
}

test('command: a table with a row a figure, notes, and conditions that are met', async () => {
  const clears = '\u001b[2J';
  const unstable = slower({ verdict: 'UNSTABLE', reasons: [`it swings${clears}\nfrom left`] });
  const conditions = 'p99>+10%,accepted_per_s<-5%';
  const { code, stdout, stderr } = await command(loadResult(), unstable, '--fail-on', conditions);
  expect(code).toBe(15);
  expect(stdout).toMatch(/^ +A +B +change$/m);
  expect(stdout).toMatch(/^verdict +VALID +UNSTABLE$/m);
  expect(stdout).toMatch(/^R +12,400\/s +12,400\/s +0\.0 %$/m);
  expect(stdout).toMatch(/^vote\.p99 +[\d.]+ ms +[\d.]+ ms +\+\d+\.\d %$/m);
  expect(stdout).toMatch(/^errors +[\d.]+ % +[\d.]+ % +-?[\d.]+ points$/m);
  expect(stdout).toContain('note: B is UNSTABLE: it swings\\u001b[2J\\nfrom left\n');
  expect(stderr).toMatch(
    /^folkmoot: p99>\+10%: it went from [\d.]+ ms to [\d.]+ ms, \+[\d.]+ %\n$/,
  );
});

test('command: one JSON object with everything, whatever the conditions say', async () => {
  const [a, b] = [loadResult(), slower()];
  const args = ['--json', '--fail-on', 'p99>1us', '--fail-on', 'errors>50%'];
  const { code, stdout } = await command(a, b, ...args);
  expect(code).toBe(15);
  const json = JSON.parse(stdout);
  expect(json).toMatchObject({
    a: { verdict: 'VALID', started: a.started, asked: a.asked },
    b: { path: expect.stringMatching(/b\.json$/) },
    ...JSON.parse(JSON.stringify(compare(a, b))),
    conditions: [
      { condition: 'p99>1us', met: expect.stringContaining('p99>1us: it is') },
      { condition: 'errors>50%', met: null },
    ],
  });
});

test.each([
  ['nothing is asked for', {}, [], 0],
  ['no condition is met', {}, ['--fail-on', 'p99>9s'], 0],
  ['a run is unstable', { verdict: 'UNSTABLE' as const }, [], 0],
  ['a run is invalid', { verdict: 'INVALID' as const }, [], 14],
  ['a run is bound by its client', { verdict: 'CLIENT_BOUND' as const }, [], 14],
  ['and a condition is met', { verdict: 'INVALID' as const }, ['--fail-on', 'max>0us'], 14],
])('command: when %s', async (_, changes, args, code) => {
  expect((await command(slower(changes), loadResult(), ...args)).code).toBe(code);
});

test('command: a wrong condition and a file that is none are told in a line', async () => {
  const wrong = await command(loadResult(), loadResult(), '--fail-on', 'p99>fast');
  expectOneLine(wrong);
  expect(wrong.code).toBe(2);
  const missing = await folkmoot(['load', 'compare', 'nowhere', 'nowhere']);
  expectOneLine(missing);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('nowhere does not exist; expected the result.json');
});
