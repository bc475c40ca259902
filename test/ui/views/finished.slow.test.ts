/** Tests a finished run: its end, all messages, and shared vote reasons. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Snapshot } from '../../../dist/api/view/model.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { explored, keptRun } from '../folder.js';
import { viewOf } from '../voters.js';

const folder = suiteFolder();
let run = '';
useBrowser(async () => {
  // One outcome has more rows than the list in the Explore view.
  const size = ['--agents', '1200', '--blocks', '3', '--seed', '7', '--unsigned'];
  run = await keptRun(join(folder, 'run'), ...size);
});

/** Waits until the server has read the log. */
async function madeView(url: string): Promise<Snapshot> {
  await expect.poll(async () => (await fetch(`${url}/api/v1/view`)).status).toBe(200);
  return viewOf(url);
}

browserTest('finished: shows the deciding vote and the outcome at the end', async () => {
  const url = await explored(run);
  const { entry } = await madeView(url);
  const { tab, complaints } = await open(`${url}/ui/explore`, modes.light);
  const rows = tab.locator('.happened li');
  await rows.first().waitFor();
  const texts = await rows.allInnerTexts();
  const outcome = texts.findIndex((text) => /was finalized$/.test(text));
  expect(texts[outcome - 1]).toMatch(/voted to approve block/);
  expect(Number.parseInt(texts[outcome]!, 10)).toBeLessThanOrEqual(entry);
  expect(Number.parseInt(texts[outcome - 1]!, 10)).toBe(Number.parseInt(texts[outcome]!, 10));
  expect(texts.filter((text) => /reputation/.test(text)).length).toBeLessThan(20);
  expect(await tab.getByText(/earlier rows? (is|are) omitted/).count()).toBe(0);
  expect(complaints).toEqual([]);
});

/** Counts the messages on all pages in the Talk view. */
async function countedOn(tab: Page): Promise<number> {
  let count = 0;
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const state = tab.locator('.talk > .panel .pages').first();
    // Until a page arrives, its end stands beside the start of the page before, which is after it.
    const turned = await vi.waitUntil(async () => {
      const [from, to] = (await state.innerText()).replaceAll(',', '').match(/\d+/g)!.map(Number);
      return from! <= to! && from! < before && { from: from! };
    }, 20_000);
    before = turned.from;
    const counts = tab.locator('.talk-lines .by');
    count += await counts.evaluateAll((rows) =>
      rows.reduce((sum, row) => sum + Number(row.getAttribute('data-count')), 0),
    );
    const older = tab.getByRole('button', { name: 'Older' });
    if (await older.isDisabled()) return count;
    await older.click();
  }
}

browserTest('finished: reads the whole log for each filter of Talk', async () => {
  const url = await explored(run);
  const { totals } = await madeView(url);
  for (const kind of ['remarks', 'memes'] as const) {
    const { tab, complaints } = await open(`${url}/ui/talk?kind=${kind}`, modes.light);
    expect([[kind, await countedOn(tab)], complaints]).toEqual([[kind, totals[kind]], []]);
  }
  // Scripted agents give a reason for every vote.
  const { tab } = await open(`${url}/ui/talk?kind=reasons`, modes.light);
  expect(await countedOn(tab)).toBe(totals.votes);
});

browserTest('finished: lists shared reasons once', async () => {
  const url = await explored(run);
  const { blocks } = await madeView(url);
  const { hash, ballots } = blocks.findLast(({ status }) => status === 'finalized')!;
  const { tab, complaints } = await open(`${url}/ui/block/${hash}`, modes.light);
  const reasons = tab.locator('.reasons li');
  await reasons.first().waitFor();
  const counts = (await reasons.allInnerTexts()).map((text) =>
    [...text.matchAll(/([\d,]+) (?:approve|reject)\b/g)].reduce(
      (sum, [, count]) => sum + Number(count!.replaceAll(',', '')),
      0,
    ),
  );
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(ballots.length);
  const cells = await tab.locator('table.votes td.wide').allInnerTexts();
  expect(cells.length).toBeGreaterThan(10);
  expect([cells.filter((text) => !/^reason \d+/.test(text)), complaints]).toEqual([[], []]);
});

browserTest('finished: draws each threshold of the tally to scale', async () => {
  const url = await explored(run);
  const { tab } = await open(`${url}/ui/now`, modes.light);
  const bar = (await tab.locator('.tally-box > .tally').boundingBox())!;
  const { total } = (await madeView(url)).blocks.at(-1)!;
  const goals = tab.locator('.tally-box > .goal');
  expect(await goals.allInnerTexts()).toHaveLength(2);
  for (const [place, text] of (await goals.allInnerTexts()).entries()) {
    const [, weight, side] = /^([\d,]+) to (finalize|reject)$/.exec(text)!;
    const box = (await goals.nth(place).boundingBox())!;
    const share = Number(weight!.replaceAll(',', '')) / total;
    expect(box.width / bar.width).toBeCloseTo(share, 2);
    const edge = side === 'finalize' ? box.x - bar.x : box.x + box.width - bar.x - bar.width;
    expect(Math.abs(edge)).toBeLessThan(1);
  }
});

browserTest(
  'finished: times of a list have one form, and remarks show their sentiment',
  async () => {
    // Longer than 100 s, so that early and late times would have two forms.
    const long = await keptRun(join(folder, 'long'), '--agents', '30', '--blocks', '45');
    const url = await explored(long);
    const { memes, said } = await madeView(url);
    const { tab, complaints } = await open(`${url}/ui/talk?kind=memes`, modes.light);
    const times = tab.locator('.talk-lines .when');
    // Until the overview arrives, times are those of the day.
    await expect.poll(() => times.first().innerText()).toMatch(/^\d+:\d\d\.\d, entry /);
    for (const text of await times.allInnerTexts()) expect(text).toMatch(/^\d+:\d\d\.\d, entry /);
    expect(memes.every(({ at }) => at > 0)).toBe(true);
    await tab.goto(`${url}/ui/talk?kind=remarks`);
    const by = tab.locator('.talk-lines .by');
    await by.first().waitFor();
    for (const text of await by.allInnerTexts()) {
      expect(text).toMatch(/remark, (for|against|neutral)/);
    }
    // The Now view states the window of its counts, and all quotation marks match.
    await tab.goto(`${url}/ui/now`);
    await tab.getByText(`Counts cover the last ${said.length} messages`).waitFor();
    const marks = await tab
      .locator('.spoken q')
      .evaluateAll((quotes) =>
        quotes.map((quote) =>
          ['::before', '::after'].map((part) => getComputedStyle(quote, part).content).join(''),
        ),
      );
    expect([[...new Set(marks)], complaints]).toEqual([['"\u201c""\u201d"'], []]);
  },
);
