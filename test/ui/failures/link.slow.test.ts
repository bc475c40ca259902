/** Tests the connection between page and server: sleep, silence, and wrong clocks. */
import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { watchLimits } from '../../../dist/api/contract/channels.js';
import { agentOf, live } from '../../client/helpers.js';
import { browserTest, launch, useBrowser } from '../../support/browser.js';
import { door } from '../../support/service/connection.js';
import { modes, newTab, open } from '../browser.js';
import { expectWhole, isLive, lostBand, own, viewOf, voters } from '../voters.js';

/** Voting period in the test with wrong clocks. */
const PERIOD_MS = 600_000;
useBrowser();

/**
 * Stops a browser's renderers, as on a sleeping machine. The returned function resumes the
 * renderers.
 */
async function sleeping(asleep: Browser): Promise<() => void> {
  const session = await asleep.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const drawing = processInfo.filter(({ type }) => type === 'renderer');
  expect(drawing.length).toBeGreaterThan(0);
  const all = (signal: NodeJS.Signals) => {
    for (const { id } of drawing) process.kill(id, signal);
  };
  all('SIGSTOP');
  return () => all('SIGCONT');
}

browserTest('link: retries a part of the page that failed to load', async () => {
  const there = await live();
  const vote = await voters(there.url);
  await vote(1);
  const tab = await newTab(modes.light);
  // This happens, for example, when a machine changes its network.
  let isDown = true;
  await tab.route(/\/assets\/player/, (route) =>
    isDown ? route.abort('connectionaborted') : route.continue(),
  );
  await tab.goto(`${there.url}/ui/`);
  await lostBand(tab).waitFor();
  // Keys pressed meanwhile are applied later. The event before the newest is in block 1.
  await tab.keyboard.press(',');
  isDown = false;
  await tab.getByRole('heading', { name: /^Block 1/ }).waitFor();
  await tab.getByText(/^paused/).waitFor();
  await tab.keyboard.press('l');
  await isLive(tab);
  await vote(1);
  await tab.getByRole('heading', { name: 'Block 2 finalized' }).waitFor();
  await expectWhole(tab, there.url);
});

browserTest('link: catches up without a gap after sleep', async () => {
  const there = await live();
  const vote = await voters(there.url);
  await vote(1);
  const another = await launch();
  onTestFinished(() => another.close());
  const { tab, complaints } = await open(`${there.url}/ui/`, modes.light, another);
  await isLive(tab);
  const hide = (hidden: boolean) =>
    tab.evaluate((now) => {
      Object.defineProperty(document, 'hidden', { get: () => now, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  const wake = await sleeping(another);
  // More frames than the server buffers.
  for (let frame = 0; frame < 80; frame += 1) {
    await vote(1);
    await setTimeout(watchLimits.everyMs);
  }
  wake();
  await hide(false);
  await tab.getByRole('heading', { name: 'Block 81 finalized' }).waitFor();
  await isLive(tab);
  await expectWhole(tab, there.url);
  await tab.keyboard.press('[');
  await tab.getByText(/^paused, /).waitFor();
  expect(complaints).toEqual([]);
});

browserTest('link: reconnects after silence', async () => {
  const there = await live();
  const vote = await voters(there.url);
  const { url, set } = await door(there.url);
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  await isLive(tab);
  set('silent');
  await vote(2);
  await lostBand(tab).waitFor();
  set('open');
  await isLive(tab);
  await tab.getByRole('heading', { name: 'Block 2 finalized' }).waitFor();
  await expectWhole(tab, there.url);
  expect(complaints.filter(own)).toEqual([]);
});

browserTest.each([
  ['an hour slow', -3_600_000],
  ['half a minute slow', -30_000],
  ['half a minute fast', 30_000],
  ['an hour fast', 3_600_000],
])('link: shows the time left with a clock %s', async (_, wrong) => {
  const { url } = await live({ genesis: { voting_period_ms: PERIOD_MS } });
  const [ada] = [await agentOf(url, 1), await agentOf(url, 2), await agentOf(url, 3)];
  await ada.propose({ transactions: ['one'] });
  const { blocks } = await viewOf(url);
  const tab = await newTab(modes.light);
  await tab.addInitScript((by) => {
    const now = Date.now;
    Date.now = () => now() + by;
  }, wrong);
  await tab.goto(`${url}/ui/`);
  await isLive(tab);
  const left = tab.locator('.deadline b', { hasText: 'min' });
  // The displayed time may lag slightly, but not by half a minute, and it advances without entries.
  const shown = async () => 60_000 * Number.parseFloat(await left.innerText());
  const error = async () => Math.abs(blocks[0]!.deadline - Date.now() - (await shown()));
  await expect.poll(error).toBeLessThan(10_000);
  const first = await shown();
  await expect.poll(shown).toBeLessThan(first);
  await expect.poll(error).toBeLessThan(10_000);
});
