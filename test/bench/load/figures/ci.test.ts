/** Output for CI systems: JUnit XML, the step summary, annotations and Markdown. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOMParser } from 'linkedom';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { type Judged, junitXml, markdownCell } from '../../../../dist/cli/commands/load/ci.js';
import { runCommand } from '../../../support/command.js';
import { linesOf } from '../../../support/runs.js';
import { loadResult } from '../fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
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
