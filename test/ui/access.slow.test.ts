/** Accessibility tests: axe in every mode, and one journey by keyboard alone. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { accessFaults, checkedModes, modes, open } from './browser.js';
import { type Crowd, crowd } from './crowd.js';

let browser: Browser;
let served: Crowd;
let empty: Crowd;
beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  served = await crowd({ agents: 60, votes: 2_000, eventsPerSecond: 20 });
  empty = await crowd({ agents: 0, votes: 0, eventsPerSecond: 0 });
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
  await empty?.close();
});

const views = ['now', 'agents', 'agents?as=table', 'agents?color=status&at=700', 'nowhere'];
const needs = `(needs ${executablePath})`;

test.skipIf(!hasBrowser).each(checkedModes)(
  `access: passes axe in every view, %s ${needs}`,
  async (name) => {
    for (const view of views) {
      const { tab, complaints } = await open(browser, `${served.url}/ui/${view}`, modes[name]);
      expect([view, await accessFaults(tab)]).toEqual([view, []]);
      const wide = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([view, wide]).toEqual([view, 0]);
      expect([view, complaints]).toEqual([view, []]);
      await tab.close();
    }
  },
);

test.skipIf(!hasBrowser)(`access: shows an empty state without agents ${needs}`, async () => {
  const { tab } = await open(browser, `${empty.url}/ui/`);
  await tab.getByText('No agents yet').waitFor();
  expect(await accessFaults(tab)).toEqual([]);
});

test.skipIf(!hasBrowser)(`access: works by keyboard alone ${needs}`, async () => {
  const { tab, complaints } = await open(browser, `${served.url}/ui/`, modes.light);
  const focused = () =>
    tab.evaluate(() => {
      const { activeElement: here } = document;
      return here?.getAttribute('aria-label') ?? here?.textContent ?? '';
    });
  const keys = tab.keyboard;
  await keys.press('Tab');
  expect(await focused()).toContain('Skip to the view');
  await keys.press('Enter');
  const tabTo = async (text: RegExp) => {
    for (let presses = 0; presses < 120; presses += 1) {
      await keys.press('Tab');
      if (text.test(await focused())) return;
    }
    throw new Error(`no way to ${text}`);
  };
  await tabTo(/^Block \d+, /);
  await keys.press('Enter');
  expect(await tab.locator('.chain [aria-pressed=true]').count()).toBe(1);
  await tabTo(/^60 agents, /);
  await keys.press('ArrowRight');
  await keys.press('ArrowDown');
  await tab.waitForFunction(() => /, approves|, rejects|, has not/.test(document.body.innerText));

  await keys.press('Space');
  await tab.getByText(/paused, [\d,]+ entr.* behind live|^paused$/).waitFor();
  const entry = async () => Number(new URL(tab.url()).searchParams.get('at'));
  await tab.waitForURL(/at=\d+/);
  const here = await entry();
  await keys.press('[');
  await tab.waitForURL((url) => Number(url.searchParams.get('at')) < here);
  const block = await entry();
  await keys.press('.');
  await tab.waitForURL((url) => Number(url.searchParams.get('at')) > block);
  await keys.press(',');
  await tab.waitForURL((url) => Number(url.searchParams.get('at')) === block);
  await keys.press('?');
  await tab.getByRole('dialog').waitFor();
  await keys.press('Escape');
  await tab.getByRole('dialog').waitFor({ state: 'hidden' });
  await keys.press('l');
  await tab.waitForURL((url) => !url.searchParams.has('at'));
  expect(complaints).toEqual([]);
});
