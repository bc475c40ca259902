/** Tests the page against a synthetic network. */
import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { modes, open, sameImage } from './browser.js';
import { type CrowdOptions, crowd } from './crowd.js';
import { isFinished, isLive, lostBand } from './voters.js';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const needs = `(needs ${executablePath})`;

async function served(options: Partial<CrowdOptions> = {}) {
  const there = await crowd({ agents: 40, votes: 1_500, eventsPerSecond: 0, ...options });
  onTestFinished(() => there.close());
  return there;
}

test.skipIf(!hasBrowser)(`page: shows the totals of the network ${needs}`, async () => {
  const { url, picture: snapshot } = await served();
  const { tab, complaints } = await open(browser, `${url}/ui/`, modes.light);
  await isFinished(tab);
  const block = snapshot.blocks.at(-1)!;
  await tab.getByRole('heading', { name: new RegExp(`^Block ${block.height} `) }).waitFor();
  const rejections = block.ballots.filter((ballot) => ballot % 2 === 1).length;
  const approvals = block.ballots.length - rejections;
  const counts = await tab.locator('.counts').innerText();
  expect(counts).toMatch(new RegExp(`^\\s*${approvals} approve\\s+${rejections} reject`));
  const figures = await tab.locator('.figures').innerText();
  expect(figures.replaceAll(',', '')).toContain(String(snapshot.totals.votes));
  expect(complaints).toEqual([]);
});

test.skipIf(!hasBrowser)(
  `page: shows the progress of a server that reads its log ${needs}`,
  async () => {
    const { url, made } = await served({ making: true });
    const { tab } = await open(browser, `${url}/ui/`, modes.light);
    await tab.getByRole('progressbar').waitFor();
    await tab.getByText('entry 1,500 of 6,000').waitFor();
    made();
    await isFinished(tab);
    expect(await tab.getByRole('alert').count()).toBe(0);
  },
);

/**
 * Takes screenshots until two consecutive ones are equal, because a busy machine draws in pieces.
 */
async function still(snapshot: () => Promise<Buffer>): Promise<Buffer> {
  let last = await snapshot();
  for (;;) {
    await setTimeout(1_000);
    const next = await snapshot();
    if (await sameImage(browser, last, next)) return next;
    last = next;
  }
}

test.skipIf(!hasBrowser)(`page: shows the same after a reload ${needs}`, async () => {
  const { url } = await served();
  for (const link of ['now?at=777', 'agents?at=1111&color=reputation', 'agents?at=900&as=table']) {
    const { tab } = await open(browser, `${url}/ui/${link}`, modes.light);
    await tab.getByText(/^paused/).waitFor();
    const snapshot = () => tab.locator('main').screenshot();
    await expect.poll(() => new URL(tab.url()).searchParams.get('at')).toMatch(/777|1111|900/);
    const before = await still(snapshot);
    await tab.reload();
    await tab.getByText(/^paused/).waitFor();
    await expect.poll(async () => sameImage(browser, before, await snapshot())).toBe(true);
    await tab.close();
  }
});

test.skipIf(!hasBrowser)(`page: reports an entry past the newest ${needs}`, async () => {
  const { url, picture: snapshot } = await served();
  const { tab, complaints } = await open(browser, `${url}/ui/?at=99999999`, modes.light);
  await tab.getByTestId('notice').getByText(String(snapshot.entry)).waitFor();
  await open(browser, `${url}/ui/?at=-3%22%3E`, modes.light);
  expect(complaints).toEqual([]);
});

const hostile = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  '\u202egnirts\u202c desrever',
  'zero\u200bwidth\u200d\u2060\ufeff',
  '\u0627\u0644\u0639\u0631\u0628\u064a\u0629',
  'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e'.repeat(40),
  'W'.repeat(2_000),
  '{{constructor.constructor("alert(3)")()}}',
];

test.skipIf(!hasBrowser)(`page: shows hostile texts as text only ${needs}`, async () => {
  const text = (number: number) => hostile[number % hostile.length]!;
  const { url } = await served({ name: text, remark: text, eventsPerSecond: 50 });
  for (const [view, mode] of [
    ['now', 'light'],
    ['agents?as=table', 'narrow'],
    ['agents', 'dark'],
  ] as const) {
    const { tab, complaints } = await open(browser, `${url}/ui/${view}`, modes[mode]);
    await tab.waitForTimeout(500);
    const seen = await tab.evaluate(() => ({
      images: document.querySelectorAll('main img, main script').length,
      turns: /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/.test(document.body.innerText),
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }));
    expect([view, seen]).toEqual([view, { images: 0, turns: false, wide: 0 }]);
    expect([view, complaints]).toEqual([view, []]);
    await tab.close();
  }
});

test.skipIf(!hasBrowser)(`page: reconnects to a restarted server ${needs}`, async () => {
  const there = await served({ eventsPerSecond: 100 });
  const { tab } = await open(browser, `${there.url}/ui/`, modes.light);
  await isLive(tab);
  await there.stop();
  await lostBand(tab).waitFor();
  await there.start();
  await isLive(tab);
  await lostBand(tab).waitFor({ state: 'hidden' });
});

test.skipIf(!hasBrowser)(`page: starts over with another history ${needs}`, async () => {
  const there = await served({ eventsPerSecond: 50 });
  const { tab } = await open(browser, `${there.url}/ui/`, modes.light);
  await isLive(tab);
  await there.stop();
  there.picture.epoch = 'two';
  await there.start();
  await tab.getByTestId('notice').waitFor();
  await isLive(tab);
});

test.skipIf(!hasBrowser)(`page: has no transitions with reduced motion ${needs}`, async () => {
  const { url } = await served({ eventsPerSecond: 50 });
  const mode = { ...modes.light, reducedMotion: 'reduce' as const };
  const { tab } = await open(browser, `${url}/ui/`, mode);
  const tweens = await tab.evaluate(() =>
    [...document.querySelectorAll('*')].filter(
      (element) => getComputedStyle(element).transitionDuration !== '0s',
    ),
  );
  expect(tweens).toEqual([]);
});
