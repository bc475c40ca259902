/// <reference lib="dom" />
/**
 * Every view with few and with many agents, of a finished run and of one in progress, in each
 * scheme and width: nothing overflows, no panel is half empty, axe finds nothing, and the console
 * stays empty. FOLKMOOT_TEST_PICTURES names a folder for the screenshots.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { AnswerOf } from '../../../dist/api/contract/route.js';
import type { shownReads } from '../../../dist/api/contract/views.js';
import { pageOf } from '../../cli/watch/page.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { full } from '../../support/counts.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { accessFaults, type Mode, open } from '../browser.js';
import { explored, keptRun } from '../folder.js';

const folder = suiteFolder();
useBrowser();

const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
const looks: Readonly<Record<string, Mode>> = {
  light: { colorScheme: 'light', viewport: wide },
  'dark-narrow': { colorScheme: 'dark', viewport: narrow },
  ...(full && {
    dark: { colorScheme: 'dark', viewport: wide },
    'light-narrow': { colorScheme: 'light', viewport: narrow },
  }),
};

/** Agents, and blocks of the run. */
const sizes: readonly (readonly [number, number])[] = full
  ? [
      [5, 14],
      [100, 14],
      [1_000, 6],
      [10_000, 3],
    ]
  : [
      [5, 14],
      [100, 14],
    ];
const argsOf = ([agents, blocks]: readonly [number, number]) =>
  `--agents ${agents} --blocks ${blocks} --unsigned --seed 11`.split(' ');

const views = ['now', 'agents', 'agents?as=table', 'network', 'opinion', 'alliances', 'talk'];
const more = ['block', 'explore', 'doctor', 'nowhere', 'block/0123', 'agent/unknown'];

/**
 * Returns the panels of which the content covers less than half. Each text and mark covers its box
 * and a margin around it.
 */
const halfEmpty = (tab: Page): Promise<string[]> =>
  tab.evaluate(() => {
    const cell = 10;
    const filled =
      'canvas, svg, button, input, select, textarea, meter, progress, i, pre, .swatch, .bar';
    const boxesIn = (panel: Element): DOMRect[] => {
      const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
      const boxes = [...panel.querySelectorAll(filled)].map((one) => one.getBoundingClientRect());
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        boxes.push(...range.getClientRects());
      }
      return boxes;
    };
    return [...document.querySelectorAll('main .panel, main .cards li')].flatMap((panel) => {
      const { left, top, width, height } = panel.getBoundingClientRect();
      const [columns, rows] = [Math.ceil(width / cell), Math.ceil(height / cell)];
      const covered = new Uint8Array(columns * rows);
      for (const box of boxesIn(panel)) {
        const [x, y] = [(box.left - left) / cell, (box.top - top) / cell];
        const [right, bottom] = [x + box.width / cell, y + box.height / cell];
        for (let row = Math.max(0, Math.floor(y - 2)); row < Math.min(rows, bottom + 2); row += 1) {
          const from = Math.max(0, Math.floor(x - 5));
          const to = Math.min(columns, Math.ceil(right + 5));
          if (to > from) covered.fill(1, row * columns + from, row * columns + to);
        }
      }
      const share = covered.reduce((sum, one) => sum + one, 0) / covered.length;
      const name = panel.getAttribute('aria-label') ?? panel.querySelector('h1, h2')?.textContent;
      return share < 0.5 ? [`${name}: ${Math.round(100 * share)} %`] : [];
    });
  });

/** Checks each view in each look, and returns what is wrong. */
async function faultsOf(name: string, url: string, paths: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [look, mode] of Object.entries(looks)) {
    for (const path of paths) {
      const { tab, complaints } = await open(`${url}/ui/${path}`, mode);
      await tab.waitForLoadState('networkidle').catch(() => {});
      await tab.waitForTimeout(800);
      const out = process.env.FOLKMOOT_TEST_PICTURES;
      const file = `${name}-${path.split('#')[0]!.replace(/agent_\w+/, 'one')}-${look}`;
      if (out) await tab.screenshot({ path: join(out, `${file.replace(/\W+/g, '-')}.png`) });
      const empty = await halfEmpty(tab);
      const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const access = await accessFaults(tab);
      // The browser logs the 404 of an unknown block.
      const logged = complaints.filter((line) => !/status of 40[04]/.test(line));
      const all = [...empty, ...(over > 0 ? [`overflow by ${over} px`] : []), ...access, ...logged];
      faults.push(...all.map((one) => `${file}: ${one}`));
      await tab.close();
    }
  }
  return faults;
}

type Roster = { data: AnswerOf<(typeof shownReads)['roster']> };

/** Ends only hanging tests. */
vi.setConfig({ testTimeout: full ? 3_600_000 : 900_000 });

browserTest.each(sizes)('pictures: a finished run of %i agents', async (...size) => {
  const run = await keptRun(join(folder, `run-${size[0]}`), ...argsOf(size));
  const url = await explored(run);
  const { data } = (await (await fetch(`${url}/api/v1/agents?limit=1`)).json()) as Roster;
  const paths = [...views, ...more, `agent/${data.agents[0]!.id}`];
  expect(await faultsOf(`${size[0]}-finished`, url, paths)).toEqual([]);
});

browserTest.each(sizes)('pictures: a run in progress with %i agents', async (...size) => {
  const page = await pageOf(begin(['sim', ...argsOf(size), '--watch=paused', '--speed', 'max']));
  for (let block = 0; block < 2; block += 1) {
    expect(await page.ask({ do: 'until', until: { what: 'outcome' } })).toBe(200);
    await expect
      .poll(async () => (await page.control()).clock.paused, { timeout: 60_000 })
      .toBe(true);
  }
  const paths = [...views, 'block', 'explore', `experiment#token=${page.token}`];
  expect(await faultsOf(`${size[0]}-live`, page.url, paths)).toEqual([]);
});
