import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { modes, open } from './browser.js';
import { type CrowdOptions, crowd } from './crowd.js';
import { isLive } from './voters.js';

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

test.skipIf(!hasBrowser)(`page: reports an entry past the newest ${needs}`, async () => {
  const { url, picture: snapshot } = await served();
  const { tab, complaints } = await open(browser, `${url}/ui/?at=99999999`, modes.light);
  await tab.getByTestId('notice').getByText(String(snapshot.entry)).waitFor();
  await open(browser, `${url}/ui/?at=-3%22%3E`, modes.light);
  expect(complaints).toEqual([]);
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
