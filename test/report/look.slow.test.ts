/** Reports in a real browser: nothing is fetched, cut off, hidden or pushed off the page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeRunReport, writeSweepReport } from 'folkmoot/sim';
import { browserTest, useBrowser } from '../support/browser.js';
import { temporaryFolder } from '../support/fixture.js';
import { collisions, faults, type Setting, show } from './browser.js';
import { keptRun, keptSweep, type SweepOptions } from './fixture.js';

useBrowser();

async function runReport(options: Parameters<typeof keptRun>[1] = {}): Promise<string> {
  const folder = temporaryFolder();
  await keptRun(folder, options);
  await writeRunReport(folder);
  return join(folder, 'report.html');
}

async function sweepReport(options: SweepOptions): Promise<string> {
  const folder = temporaryFolder();
  keptSweep(folder, options);
  await writeSweepReport(folder);
  return join(folder, 'report.html');
}

const shares = [0, 0.1, 0.2, 0.3, 0.4];
const policy = { path: 'consensus.policy', values: ['bft', 'veto', 'majority'] };
const reports: Record<string, { make: () => Promise<string>; figures: number }> = {
  'a run': { make: () => runReport(), figures: 5 },
  'a sweep of one factor': {
    make: () => sweepReport({ factors: [{ path: 'links.loss', values: shares }] }),
    figures: 1,
  },
  'a sweep of names': {
    make: () => sweepReport({ factors: [policy], measure: () => 0.5 }),
    figures: 1,
  },
  'a sweep of three factors': {
    make: () =>
      sweepReport({
        factors: [
          { path: 'agents.crowd.share', name: 'contrarians', values: shares },
          policy,
          { path: 'links.loss', name: 'loss', values: [0, 0.05] },
        ],
        responses: ['finalized_share', 'finality_p95_ms'],
        measure: ([share], response) => (response === 0 ? 1 - Number(share) : 9e5 * Number(share)),
      }),
    figures: 4,
  },
  'a sweep over powers of ten': {
    make: () =>
      sweepReport({
        factors: [
          { path: 'population', values: [10, 100, 1_000, 10_000, 100_000] },
          { path: 'topology.degree', name: 'degree', values: [2, 4, 6, 8, 10, 12, 14, 16, 18] },
        ],
        responses: ['votes'],
        measure: ([agents, degree]) => Number(agents) * Number(degree),
      }),
    figures: 2,
  },
  'a Latin hypercube': {
    make: () =>
      sweepReport({
        design: 'lhs',
        factors: [{ path: 'links.loss', values: [] }, policy],
        cells: Array.from({ length: 40 }, (_, index) => [
          ((index * 7) % 40) / 40,
          policy.values[index % 3]!,
        ]),
        responses: ['tps'],
      }),
    figures: 2,
  },
};

const settings: Setting[] = [
  { width: 390, colorScheme: 'light' },
  { width: 1_000, colorScheme: 'dark' },
  { width: 720, colorScheme: 'dark', media: 'print' },
];

browserTest.each(Object.entries(reports))(
  'look: %s has no layout faults, in light and dark, wide and narrow, screen and print',
  async (_, { make, figures }) => {
    const file = await make();
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

browserTest('look: follows the colour scheme, and paper is white', async () => {
  const file = await runReport({ blocks: 3 });
  const paper = async (colorScheme: 'light' | 'dark', media: 'screen' | 'print') => {
    const { tab } = await show(file, { width: 800, colorScheme, media });
    return tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  };
  expect(await paper('light', 'screen')).toBe('rgb(255, 255, 255)');
  expect(await paper('dark', 'screen')).toBe('rgb(20, 23, 26)');
  expect(await paper('dark', 'print')).toBe('rgb(255, 255, 255)');
});

/** Returns tag names as the tags open and close. Self-closing tags are expanded. */
const tags = (markup: string): string[] =>
  markup
    .replace(/<(style|script)>[\s\S]*?<\/\1>/g, '<$1></$1>')
    .replace(/<([a-z]+)((?:\s[^<>]*?)?)\s*\/>/gi, '<$1$2></$1>')
    .match(/<\/?[a-z][a-z0-9]*/gi)!;

browserTest('markup: the parser repairs nothing', async () => {
  const { make } = reports['a sweep of three factors']!;
  for (const file of [await runReport({ blocks: 12 }), await make()]) {
    const { tab } = await show(file, { width: 800, colorScheme: 'light' });
    const parsed = await tab.evaluate(() => document.documentElement.outerHTML);
    const [doctype, ...rest] = readFileSync(file, 'utf8').split('\n');
    expect([doctype, tags(parsed)]).toEqual(['<!DOCTYPE html>', tags(rest.join('\n'))]);
    const facts = await tab.evaluate(() => ({
      ...{ standards: document.compatMode, language: document.documentElement.lang },
      ...{ title: document.title, unscoped: document.querySelectorAll('th:not([scope])').length },
      unnamed: document.querySelectorAll('svg.plot:not([role="img"][aria-label])').length,
      captions: document.querySelectorAll('table:not(:has(caption))').length,
      ids: document.querySelectorAll('[id]').length,
    }));
    expect(facts).toMatchObject({ standards: 'CSS1Compat', language: 'en', ids: 0 });
    expect(facts).toMatchObject({ unscoped: 0, unnamed: 0, captions: 0 });
    expect(facts.title).not.toBe('');
  }
});

const hostile =
  `</title></style><script>alert(1)</script><img src=x onerror="alert(2)">` + `'"&amp;\u0000\ud800`;

browserTest('hostile: titles, groups and values stay text', async () => {
  const group = `<img src=x onerror=alert(3)>"'&`;
  const run = await runReport({
    blocks: 12,
    groups: [group, 'town'],
    scenario: { title: hostile, question: hostile },
    result: {
      seed: `'; rm -rf / #<b>`,
      verdict: 'safety',
      broken: { at: 3, rule: hostile, actor: hostile, expected: hostile, found: hostile },
    },
  });
  const sweep = await sweepReport({
    factors: [{ path: hostile, values: [group, `</svg><script>alert(4)</script>`, 'c'] }],
    scenario: { title: hostile, question: hostile },
    measure: () => 0.5,
  });
  for (const file of [run, sweep]) {
    const { tab, complaints } = await show(file, { width: 390, colorScheme: 'light' });
    expect(complaints).toEqual([]);
    expect(await tab.locator('img, iframe, object, link[href^=http]').count()).toBe(0);
    // This is the page's own script, which the policy lists by hash.
    expect(await tab.locator('script').count()).toBe(1);
    expect(await tab.locator('h1').textContent()).toContain('<script>alert(1)</script>');
    expect(await tab.textContent('body')).toContain(group);
    expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  }
  expect(readFileSync(run, 'utf8')).toContain(`--seed &#39;&#39;\\&#39;&#39;; rm -rf / #&lt;b&gt;`);
});
