/// <reference lib="dom" />
/** Content of a load run report, and its display in a real browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeLoad } from '../../../../dist/bench/load/files.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { barriers } from '../../../report/access.js';
import { collisions, faults, type Setting, show } from '../../../report/browser.js';
import { browserTest, useBrowser } from '../../../support/browser.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult, nothing, saturation } from '../fixture.js';

async function reportOf(result: LoadResult): Promise<{ file: string; page: string; text: string }> {
  const folder = temporaryFolder();
  await writeLoad(result, folder);
  const file = join(folder, 'report.html');
  const page = readFileSync(file, 'utf8');
  const text = page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&gt;/g, '>')
    .replace(/\s+/g, ' ');
  return { file, page, text };
}

const headings = (page: string): string[] =>
  [...page.matchAll(/<h[123]>([^<]*)<\/h[123]>/g)].map(([, text]) => text!);

const silent = (): LoadResult =>
  loadResult(
    { operations: [], rate: 1, seconds: 1, failing: 0 },
    {
      r: null,
      seconds: [],
      verdict: 'INVALID',
      reasons: ['the server went away before anything was accepted'],
      ended: 'failed',
      generator: { ...loadResult({ rate: 1, seconds: 1 }).generator, lag: nothing() },
    },
  );

const results: Record<string, { result: () => LoadResult; figures: number }> = {
  'votes with a stall': { result: () => loadResult({ stall: true, failing: 0.03 }), figures: 5 },
  'a mixed load of many operations': {
    result: () =>
      loadResult({ workload: 'mixed', operations: ['vote', 'propose', 'read', 'meme'] }),
    figures: 10,
  },
  subscribers: {
    result: () => loadResult({ workload: 'subscribers', operations: ['status'], rate: 10 }),
    figures: 6,
  },
  'a search for saturation': {
    result: () => loadResult({ seconds: 3 }, { saturation: saturation() }),
    figures: 7,
  },
  'an hour': { result: () => loadResult({ rate: 3, seconds: 3_600, failing: 0 }), figures: 4 },
  'a run in which nothing was answered': { result: silent, figures: 0 },
};

test('report: shows the verdict, the measurements, and commands to reproduce them', async () => {
  const result = loadResult({ stall: true, failing: 0.02 });
  const { page, text } = await reportOf(result);
  expect(headings(page)).toEqual([
    ...['Load test: votes, 1,000/s', 'Latency', 'Latency of vote', 'Generator lag', 'Over time'],
    ...['Arrivals over time', 'Response times over time', 'Requests', 'Failed requests'],
    ...['Server, generator and machine', 'Reproduce'],
  ]);
  expect(text).toMatch(/1,000\/s http:\/\/127\.0\.0\.1:8080, 2025-\S+ Verdict: VALID\. /);
  expect(text).toContain('arrivals 980/s (9,800 of 10,000 arrivals accepted, 98 % of the rate)');
  expect(text).toContain('vote, 409 CONSENSUS_ERROR block_closed: 100.');
  expect(text).toContain('vote refused 409 CONSENSUS_ERROR block_closed 100 1 %');
  expect(text).toContain('(version 0.1.0, limits bench, durable on disk)');
  expect(text).toContain(
    'npx folkmoot load --url http://127.0.0.1:8080 --workload votes --rate 1000 --duration 10s',
  );
  expect(text).toContain("load compare BASE.json result.json --fail-on 'p99>+10%'");
  const { p99 } = result.operations[0]!.response;
  expect(text).toContain(`p99 response ${Math.round(p99! * 100) / 100} ms (vote, `);
});

test('report: the command that repeats the run has all options except defaults', async () => {
  const result = loadResult();
  const asked = {
    ...result.asked,
    rate: null,
    concurrency: 32,
    loop: 'closed' as const,
    agents: 7,
  };
  const { text } = await reportOf({ ...result, asked: { ...asked, timeout_ms: 900 } });
  expect(text).toContain('Load test: votes, concurrency 32');
  expect(text).toContain(
    '--workload votes --concurrency 32 --duration 10s --agents 7 --timeout 900ms',
  );
});

test('report: reports a failed run without measurements', async () => {
  const { page, text } = await reportOf(silent());
  expect(page).toContain('class="verdict bad"');
  expect(text).toContain('Verdict: INVALID, failed.');
  expect(text).toContain('the server went away before anything was accepted');
});

test('report: a long run gives a small page that explains its points', async () => {
  const hour = () => loadResult({ rate: 3, seconds: 3_600 });
  const { page, text } = await reportOf(hour());
  expect(page.length).toBeLessThan(400_000);
  expect(text).toContain('Each point is the mean of 16 seconds.');
  expect((await reportOf(hour())).page).toBe(page);
});

useBrowser();

const settings: Setting[] = [
  { width: 390, colorScheme: 'light' },
  { width: 1_000, colorScheme: 'dark' },
  { width: 720, colorScheme: 'dark', media: 'print' },
];

browserTest.each(Object.entries(results))(
  'display: %s has no layout faults, in light and dark, wide and narrow, screen and print',
  async (_, { result, figures }) => {
    const { file } = await reportOf(result());
    for (const setting of settings) {
      const { tab, complaints } = await show(file, setting);
      const where = JSON.stringify(setting);
      expect(await tab.locator('figure').count(), where).toBe(figures);
      expect(await tab.evaluate(faults), where).toEqual([]);
      expect(await tab.evaluate(collisions), where).toEqual([]);
      expect(complaints, where).toEqual([]);
    }
  },
);

const hostile =
  `</title></style><script>alert(1)</script><img src=x onerror="alert(2)">` + `'&amp;\u0000`;

browserTest('hostile: text of a server stays text', async () => {
  const result = loadResult({}, { reasons: [hostile], machine: hostile, seed: hostile });
  const [vote] = result.operations;
  const refused = [{ status: 500, code: hostile, reason: hostile, count: 7 }];
  const { file } = await reportOf({
    ...result,
    server: { ...result.server, version: hostile, limits_profile: hostile, network_id: hostile },
    operations: [{ ...vote!, refused }],
  });
  const { tab, complaints } = await show(file, { width: 390, colorScheme: 'light' });
  expect(complaints).toEqual([]);
  expect(await tab.locator('main script, img, iframe, object').count()).toBe(0);
  expect(await tab.locator('script, link[href^=http]').count()).toBe(1);
  expect(await tab.textContent('.verdict')).toContain('<script>alert(1)</script>');
  expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

browserTest('report: is accessible in every mode', async () => {
  const { file } = await reportOf(loadResult({ stall: true, failing: 0.03 }));
  expect(await barriers(file)).toEqual([]);
});
