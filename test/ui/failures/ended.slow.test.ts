/** A command that is ended by Ctrl+C while pages are open: it ends, and they say so and wait. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executablePath, hasBrowser, launch } from '../../support/browser.js';
import { freePort, temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { copyOf, keptRun } from '../folder.js';
import { expectWhole, isLive, own, voters } from '../voters.js';

const needs = `(needs ${executablePath})`;
const run = join(suiteFolder(), 'run');
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await keptRun(run, '--agents', '30', '--blocks', '3', '--seed', '6');
});
afterAll(() => browser?.close());

/** Two readers, on views that ask for different things; whoever goes on is told again. */
async function readers(url: string) {
  const [now, block] = await Promise.all(
    ['now', 'block'].map((view) => open(browser, `${url}/ui/${view}`, modes.light)),
  );
  return { now: now!, block: block! };
}

const isLost = async (tab: Page) => {
  const band = tab.getByRole('alert').filter({ hasText: 'No news for' });
  await band.getByText('start it again at the same address').waitFor();
  await tab.getByText('out of touch', { exact: true }).waitFor();
};

const isBack = (tab: Page) => tab.getByText('No news for').waitFor({ state: 'hidden' });

test.skipIf(!hasBrowser)(`ended: explore, while pages are open ${needs}`, async () => {
  const port = String(await freePort());
  const args = ['explore', copyOf(run), '--port', port, '--json', '--open', 'no'];
  const first = begin(args);
  const [, url = ''] = await first.printed(/"url":"([^"]+)"/);
  const { now, block } = await readers(url);
  await now.tab.getByText('finished run', { exact: true }).waitFor();
  await block.tab.getByText(/All \d+ signatures of votes hold/).waitFor();
  expect(await first.stop('SIGINT')).toEqual({ code: 0, signal: null });
  for (const { tab } of [now, block]) await isLost(tab);
  // What is here stays, and can be gone through.
  await now.tab.keyboard.press('[');
  await now.tab.getByRole('heading', { name: /^Block \d+ / }).waitFor();
  await block.tab.getByText(/All \d+ signatures of votes hold/).waitFor();
  await begin(args).printed(/"url":"([^"]+)"/);
  for (const { tab, complaints } of [now, block]) {
    await isBack(tab);
    await tab.keyboard.press('l');
    await tab.getByText('finished run', { exact: true }).waitFor();
    expect(complaints.filter(own)).toEqual([]);
  }
});

test.skipIf(!hasBrowser)(
  `ended: serve, while pages are open and agents vote ${needs}`,
  async () => {
    const port = String(await freePort());
    const folder = join(temporaryFolder(), 'data');
    const args = ['serve', '--port', port, '--data', folder, '--limits', 'bench'];
    const first = begin(args);
    const [, url = ''] = await first.printed(/"url":"([^"]+)"/);
    const vote = await voters(url);
    await vote(1);
    const { now, block } = await readers(url);
    for (const { tab } of [now, block]) await isLive(tab);
    await vote(1);
    await now.tab.getByRole('heading', { name: 'Block 2 finalized' }).waitFor();
    expect(await first.stop('SIGINT')).toEqual({ code: 0, signal: null });
    for (const { tab } of [now, block]) await isLost(tab);
    await begin(args).printed(/"url":"([^"]+)"/);
    for (const { tab } of [now, block]) await isBack(tab);
    await vote(2);
    await now.tab.getByRole('heading', { name: 'Block 4 finalized' }).waitFor();
    for (const { tab, complaints } of [now, block]) {
      await isLive(tab);
      await expectWhole(tab, url);
      expect(complaints.filter(own)).toEqual([]);
    }
  },
);
