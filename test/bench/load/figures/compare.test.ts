/** Comparison of two results: figures, changes, warnings, and the command's exit codes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { DOMParser, parseHTML } from 'linkedom';
import { changeText, compare } from '../../../../dist/bench/load/compare.js';
import { findFigure } from '../../../../dist/bench/load/figures.js';
import { writeLoad } from '../../../../dist/bench/load/files.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { type Judged, junitXml, markdownCell } from '../../../../dist/cli/commands/load/ci.js';
import { formatValue, type Unit } from '../../../../dist/report/shared/format.js';
import { type Ended, runCommand } from '../../../support/command.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { linesOf, suiteFolder } from '../../../support/runs.js';
import { loadResult, outage, saturation } from '../fixture.js';

const slower = (changes: Partial<LoadResult> = {}) => loadResult({ seed: 2, medianMs: 8 }, changes);

const figure = (a: LoadResult, b: LoadResult, name: string) =>
  compare(a, b).figures.find((one) => one.figure === name);

test('compare: lists every figure of both results with its change', () => {
  const [a, b] = [loadResult(), slower()];
  const { usable, warnings, figures, r } = compare(a, b);
  expect([usable, warnings, r]).toEqual([
    true,
    [],
    { a: 12_400, b: 12_400, change: 0, moved: false, scaled: false },
  ]);
  expect(figures.map((one) => one.figure)).toEqual([
    'accepted_per_s',
    'of_target',
    'errors',
    ...['vote', 'vote.service'].flatMap((scope) =>
      ['p50', 'p90', 'p95', 'p99', 'p999', 'max'].map((name) => `${scope}.${name}`),
    ),
  ]);
  const [before, after] = [a, b].map(({ operations }) => operations[0]!.response.p50!);
  expect(figure(a, b, 'vote.p50')).toEqual({
    ...{ figure: 'vote.p50', unit: 'ms', a: before, b: after, change: after! / before! - 1 },
    by_r: null,
  });
});

test('compare: a figure of only one result has no change', () => {
  const [a, b] = [loadResult(), loadResult({ operations: ['vote', 'propose'], workload: 'mixed' })];
  expect(figure(a, b, 'propose.p99')).toMatchObject({ a: null, change: null });
  expect(figure(a, b, 'tps')).toMatchObject({ a: null, b: 990, change: null });
  expect(figure(b, a, 'finality.p50')).toMatchObject({ b: null, change: null });
  expect(figure(a, b, 'propose.errors')).toMatchObject({ unit: 'share', a: null });
});

test('compare: excludes requests outside the schedule', () => {
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
])('compare: %s: also shows figures in units of R after a change of machine speed', (_, made) => {
  const a = made();
  const alike = compare(a, made({ r: a.r! * 1.09 }));
  expect(alike.r.moved).toBe(false);
  expect(alike.figures.filter(({ change, by_r }) => change !== 0 || by_r)).toEqual([]);
  const b = made({ r: a.r! * 2 });
  const { r, warnings, figures } = compare(a, b);
  expect(r).toMatchObject({ change: 1, moved: true, scaled: true });
  expect(warnings).toHaveLength(1);
  expect(figures.filter(({ change }) => change !== 0)).toEqual([]);
  expect(figure(a, b, 'accepted_per_s')!.by_r).toEqual({
    ...{ unit: 'of_r', a: a.arrivals.accepted_per_s / a.r! },
    ...{ b: a.arrivals.accepted_per_s / (2 * a.r!), change: -0.5 },
  });
  const { by_r: times } = figure(a, b, 'vote.p99')!;
  expect(times).toMatchObject({ unit: 'verifications', change: 1 });
  expect(times!.a).toBeCloseTo((a.operations[0]!.response.p99! * a.r!) / 1_000);
  expect(figure(a, b, 'errors')!.by_r).toBe(null);
});

test('compare: open loop: identical runs compare as equal at any machine speed', () => {
  const a = loadResult();
  const b = loadResult({}, { r: a.r! * 1.4 });
  const { r, warnings, figures } = compare(a, b);
  expect(r).toMatchObject({ moved: true, scaled: false });
  expect(warnings).toHaveLength(1);
  expect(figures.filter(({ change, by_r }) => change !== 0 || by_r)).toEqual([]);
});

test('compare: open loop: compares shares of the target at different rates', () => {
  const a = loadResult();
  const { asked, arrivals } = a;
  const twice = { ...arrivals, accepted_per_s: 2 * arrivals.accepted_per_s };
  const b = loadResult({}, { asked: { ...asked, rate: 2_000 }, arrivals: twice });
  expect(figure(a, b, 'accepted_per_s')!.change).toBeCloseTo(1);
  expect(figure(a, b, 'of_target')!.change).toBeCloseTo(0);
  const short = { ...arrivals, of_target: 0.5 };
  const half = loadResult({}, { asked: { ...asked, rate: 2_000 }, arrivals: short });
  expect(figure(a, half, 'accepted_per_s')!.change).toBeCloseTo(0);
  expect(figure(a, half, 'of_target')!.change).toBeCloseTo(0.5 - 0.99);
});

/** Parses a cell such as `4,033/s`, `0.69 ms` or `1.2 %`. */
function read(cell: string): number | null {
  const sizes: Record<string, number> = {
    ...{ ms: 1, s: 1_000, min: 60_000, h: 3_600_000, days: 86_400_000 },
    ...{ '/s': 1, R: 1, verifications: 1, '%': 0.01 },
  };
  const [, digits, unit] = /^([\d,.]+) ?([^\d.,]+)$/.exec(cell) ?? [];
  if (digits === undefined) return null;
  return Number(digits.replaceAll(',', '')) * sizes[unit!]!;
}

/** Expects the last cell to show the change between the two preceding values as displayed. */
function expectChange(a: string, b: string, change: string): void {
  const [before, after] = [read(a), read(b)];
  const row = `${a} | ${b} | ${change}`;
  if (before === null || after === null) return void expect(change, row).toBe('–');
  const points = a.endsWith('%');
  if (before === 0 && after !== 0 && !points) return void expect(change, row).toBe('–');
  const expected = points ? after - before : before === 0 ? 0 : after / before - 1;
  const [, sign, digits, unit] = /^([+-]?)([\d.]+) (%|points)$/.exec(change) ?? [];
  expect(unit, row).toBe(points ? 'points' : '%');
  const decimals = digits!.split('.')[1]!.length;
  const shown = (Number(digits) / 100) * (sign === '-' ? -1 : 1);
  // All displayed digits are correct, and a visible change does not read as zero.
  expect(Math.abs(shown - expected), row).toBeLessThan(0.00501 * 10 ** -decimals + 1e-12);
  if (Math.abs(expected) > 1e-6) expect(Math.sign(shown), row).toBe(Math.sign(expected));
}

const value = fc.oneof(
  fc.double({ min: 0, max: 1e7, noNaN: true }),
  fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1_000),
);

test('compare: property: a change follows from the two displayed numbers', () => {
  const units = fc.constantFrom<Unit>('ms', 'share', 'per_s', 'of_r', 'verifications');
  // Rounding matters for values close to each other.
  const near = fc.double({ min: 0.98, max: 1.02, noNaN: true });
  const other = fc.oneof(
    value.map((a) => () => a),
    near.map((by) => (a: number) => a * by),
  );
  fc.assert(
    fc.property(units, value, other, (unit, one, made) => {
      const [a, b] = [one, made(one)].map((all) => (unit === 'share' ? all % 1 : all));
      const cells = [a!, b!].map((cell) => formatValue(cell, unit));
      expectChange(cells[0]!, cells[1]!, changeText(unit, a!, b!));
    }),
    { numRuns: 20_000 },
  );
});

test('compare: warns of different options, servers and verdicts', () => {
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
    ...['B ended early: was interrupted after 10 of 10 s', expect.stringContaining('R is unknown')],
    ...['loop differs: open in A, closed in B', 'rate differs: 1000 in A, none in B'],
    ...['concurrency differs: none in A, 8 in B', 'batch differs: 0 in A, 10 in B'],
    ...['limits_profile differs: bench in A, none in B', 'durable differs: true in A, false in B'],
  ]);
});

test('compare: a part of a run is unusable', () => {
  for (const ended of ['interrupted', 'failed'] as const) {
    expect(compare(loadResult(), loadResult({}, { ended })).usable).toBe(false);
  }
});

async function command(a: LoadResult, b: LoadResult, ...args: string[]): Promise<Ended> {
  const folder = temporaryFolder();
  await writeLoad(a, join(folder, 'a'));
  writeFileSync(join(folder, 'b.json'), JSON.stringify(b));
  return runCommand(['load', 'compare', join(folder, 'a'), join(folder, 'b.json'), ...args]);
}

test('command: prints a table of figures, notes, and conditions that are met', async () => {
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
    /^folkmoot: p99>\+10%: changed from [\d.]+ ms to [\d.]+ ms, \+[\d.]+ %\n$/,
  );
});

test('command: prints one JSON object, with any conditions', async () => {
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
      { condition: 'p99>1us', met: expect.stringContaining('p99>1us: '), unmeasured: null },
      { condition: 'errors>50%', met: null, unmeasured: null },
    ],
  });
});

const invalid = { verdict: 'INVALID' } as const;

test.each<[string, Partial<LoadResult>, string[], number]>([
  ['no condition is given', {}, [], 0],
  ['no condition is met', {}, ['--fail-on', 'p99>9s'], 0],
  ['a run is unstable', { verdict: 'UNSTABLE' }, [], 0],
  ['invalid', invalid, [], 14],
  ['a run is bound by its client', { verdict: 'CLIENT_BOUND' }, [], 14],
  ['invalid, with a met condition', invalid, ['--fail-on', 'max>0us'], 14],
  ['invalid, with an unmeasured condition', invalid, ['--fail-on', 'tps<1'], 14],
  ['a condition is unmeasured', {}, ['--fail-on', 'tps<-10%'], 17],
  ['one is unmeasured and one is met', {}, ['--fail-on', 'tps<-10%,max>0us'], 15],
])('command: exits with the documented code when %s', async (_, changes, args, code) => {
  expect((await command(slower(changes), loadResult(), ...args)).code).toBe(code);
});

test('compare: sensitivity is the area between the response times, of runs with outages', () => {
  const of = (b: LoadResult) => compare(loadResult(), b).sensitivity;
  expect(of(slower())).toEqual([]);
  expect(of(loadResult({}, { outages: [] }))).toMatchObject([{ operation: 'vote', ms: 0 }]);
  // If every request is slower, the area is the difference of the means.
  const { ms } = of(slower({ outages: [outage()] }))[0]!;
  const [a, b] = [loadResult(), slower()].map(({ operations }) => operations[0]!.response.mean!);
  expect(ms / (b! - a!)).toBeGreaterThan(0.9);
  expect(ms / (b! - a!)).toBeLessThan(1.1);
});

test('command: compares more than two results, also as a page', async () => {
  const results = [loadResult({ seed: 1 }), loadResult({ seed: 2 }), slower()];
  const paths = results.map((result, index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, JSON.stringify(result));
    return path;
  });
  const html = join(folder, 'trend.html');
  const { code, stdout } = await runCommand(['load', 'compare', ...paths, '--html', html]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ +A +B +C +change$/m);
  expect(stdout).toMatch(/^vote\.p99( +[\d.]+ ms){3} +\+\d+\.\d %$/m);
  const { document } = parseHTML(readFileSync(html, 'utf8'));
  const rows = [...document.querySelectorAll('tbody tr')].map((row) => row.children.length);
  expect([...new Set(rows)]).toEqual([5]);
  const json = JSON.parse((await runCommand(['load', 'compare', ...paths, '--json'])).stdout);
  const { tps, 'vote.p99': p99 } = json.trend.figures;
  expect([tps, p99.values]).toEqual([
    undefined,
    results.map((one) => findFigure('vote.p99')!.of(one)),
  ]);
});

// ---- Output for CI systems: JUnit XML, the step summary, annotations and Markdown.

const folder = suiteFolder();
afterEach(() => {
  vi.unstubAllEnvs();
});

const judged: Judged[] = [
  { condition: 'p99>200ms', met: null, unmeasured: null },
  { condition: 'errors>1%', met: 'errors>1%: 2 % "<&>" \u0000\ud800', unmeasured: null },
  { condition: 'tps<5', met: null, unmeasured: 'tps<5: not measured' },
];

/** Decodes an attribute, which linkedom leaves as it is in XML. */
const decoded = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>');

function casesOf(xml: string) {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const suite = document.querySelector('testsuite')!;
  const counts = ['tests', 'failures', 'errors'].map((name) => Number(suite.getAttribute(name)));
  const cases = [...document.querySelectorAll('testcase')].map((one) => [
    decoded(one.getAttribute('name')!),
    one.firstElementChild?.tagName ?? null,
  ]);
  return { counts, cases };
}

test('JUnit: has one case for the verdict and one per condition, with escaped texts', () => {
  const xml = junitXml(loadResult(), true, judged);
  expect(casesOf(xml)).toEqual({
    counts: [4, 1, 1],
    cases: [
      ['verdict', null],
      ['p99>200ms', null],
      ['errors>1%', 'failure'],
      ['tps<5', 'error'],
    ],
  });
  expect(xml).toContain('2 % &quot;&lt;&amp;&gt;&quot; ??');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML must not contain these.
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff]/);
});

test('JUnit: an unusable run is an error with its reasons', () => {
  const result = loadResult({}, { verdict: 'INVALID', reasons: ['no request was accepted'] });
  const { counts, cases } = casesOf(junitXml(result, false, []));
  expect([counts, cases]).toEqual([[1, 0, 1], [['verdict', 'error']]]);
});

function saved(name: string, result: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(result));
  return file;
}

test('load compare --markdown: prints all figures and the outcome of each condition', async () => {
  const a = saved('a.json', loadResult());
  const b = saved('b.json', loadResult({ medianMs: 40 }, { reasons: ['a | b <i>'] }));
  const args = ['load', 'compare', a, b, '--markdown', '--fail-on', 'p99>+10%,errors>50%'];
  const { code, stdout } = await runCommand(args);
  expect(code).toBe(15);
  const lines = linesOf(stdout);
  const rows = lines.filter((line) => line.startsWith('|'));
  // Each row has four cells. An escaped bar does not separate cells.
  const bars = (line: string) => line.match(/(?<!\\)\|/g)?.length;
  expect(rows.map(bars)).toEqual(rows.map(() => 5));
  expect(rows.length).toBeGreaterThan(10);
  expect(lines.filter((line) => line.startsWith('- '))).toEqual([
    expect.stringMatching(/^- p99&gt;\+10%: \*\*missed\*\*/),
    expect.stringMatching(/^- errors&gt;50%: passed$/),
    expect.stringContaining('a \\| b &lt;i&gt;'),
  ]);
  expect(markdownCell('`a`\n*b*')).toBe('\\`a\\` \\*b\\*');
});

test('load merge: appends the step summary and annotates missed thresholds', async () => {
  const summary = join(folder, 'summary.md');
  writeFileSync(summary, 'before\n');
  vi.stubEnv('GITHUB_STEP_SUMMARY', summary);
  const shard = {
    ...{ number: 1, count: 1, start_at: '2025-11-21T20:50:52.000Z' },
    ...{ clock_offset_ms: 0, clock_uncertainty_ms: 1, clock_moved_ms: 0 },
  };
  const part = saved('part.json', loadResult({}, { shard }));
  const junit = join(folder, 'junit.xml');
  const args = ['load', 'merge', part, '--junit', junit, '--fail-on', 'errors>0.5%'];
  const { code, stderr } = await runCommand(args);
  expect(code).toBe(15);
  const errors = linesOf(stderr).filter((line) => line.startsWith('::error '));
  expect(errors).toEqual([
    expect.stringMatching(/^::error title=folkmoot load%3A errors>0\.5%25::/),
  ]);
  const text = readFileSync(summary, 'utf8');
  expect(text).toMatch(/^before\n### Load test: votes, VALID\n/);
  expect(text).toMatch(/^\| errors&gt;0\.5% \| \*\*missed\*\*/m);
  expect(casesOf(readFileSync(junit, 'utf8')).counts).toEqual([2, 1, 0]);
});
