/** Ten thousand agents and five thousand events a second: frames come as on an idle page. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { executablePath, hasBrowser, launch, modes, open } from './browser.js';
import { type CrowdOptions, crowd } from './crowd.js';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const FRAMES = 300;

/** Times between frames, ascending. */
const framesOf = (tab: Page): Promise<number[]> =>
  tab.evaluate(
    (count) =>
      new Promise((resolve) => {
        const times: number[] = [];
        const take = (now: number) => {
          times.push(now);
          if (times.length <= count) return void requestAnimationFrame(take);
          const frames = times.slice(1).map((time, index) => time - times[index]!);
          resolve(frames.sort((one, other) => one - other));
        };
        requestAnimationFrame(take);
      }),
    FRAMES,
  );

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.floor(share * (sorted.length - 1))]!;

async function framesWith(options: CrowdOptions): Promise<number[]> {
  const there = await crowd(options);
  onTestFinished(() => there.close());
  const { tab } = await open(browser, `${there.url}/ui/agents`, modes.light);
  await tab.waitForSelector('.cells canvas');
  const frames = await framesOf(tab);
  if (options.eventsPerSecond > 0) {
    // It kept up: what is shown is what has come.
    await tab.getByText('live', { exact: true }).waitFor();
    const behind = await tab.locator('.where').innerText();
    expect(behind).not.toContain(' of ');
  }
  await tab.close();
  return frames;
}

// The machine of the test may be as slow as it likes: both are measured on it, one after the other.
test.skipIf(!hasBrowser)(
  `frames: 5,000 events a second cost few (needs ${executablePath})`,
  async () => {
    const agents = 10_000;
    const idle = await framesWith({ agents, votes: 20_000, eventsPerSecond: 0 });
    const busy = await framesWith({ agents, votes: 20_000, eventsPerSecond: 5_000 });
    // Most frames are as quick: a page that draws all cells for each span is far from it.
    expect(quantile(busy, 0.5)).toBeLessThan(3 * quantile(idle, 0.5));
    expect(quantile(busy, 0.95)).toBeLessThan(8 * quantile(idle, 0.95));
  },
);
