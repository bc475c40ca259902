/** Tests Ctrl+C with open pages: the command ends, and the pages reconnect to the next command. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../../support/browser.js';
import { freePort } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { copyOf, keptRun } from '../folder.js';
import { connection, isFinished, lostBand, own } from '../voters.js';

const run = join(suiteFolder(), 'run');
useBrowser(async () => {
  await keptRun(run, '--agents', '30', '--blocks', '3', '--seed', '6');
});

/** Opens two pages with views that need different data. */
async function readers(url: string) {
  const [now, block] = await Promise.all(
    ['now', 'block'].map((view) => open(`${url}/ui/${view}`, modes.light)),
  );
  return { now: now!, block: block! };
}

const isLost = async (tab: Page) => {
  await lostBand(tab).waitFor();
  await connection(tab).getByText('disconnected').waitFor();
};

const isBack = (tab: Page) => lostBand(tab).waitFor({ state: 'hidden' });
const isChecked = (tab: Page) => tab.locator('.checks .verdict.holds').first().waitFor();

browserTest('ended: pages survive the end and restart of explore', async () => {
  const port = String(await freePort());
  const args = ['explore', copyOf(run), '--port', port, '--json', '--open', 'no'];
  const first = begin(args);
  const [, url = ''] = await first.printed(/"url":"([^"]+)"/);
  const { now, block } = await readers(url);
  await isFinished(now.tab);
  await isChecked(block.tab);
  expect(await first.stop('SIGINT')).toEqual({ code: 0, signal: null });
  for (const { tab } of [now, block]) await isLost(tab);
  // Data that was already loaded stays usable.
  await now.tab.keyboard.press('[');
  await now.tab.getByRole('heading', { name: /^Block \d+ / }).waitFor();
  await isChecked(block.tab);
  await begin(args).printed(/"url":"([^"]+)"/);
  for (const { tab, complaints } of [now, block]) {
    await isBack(tab);
    await tab.keyboard.press('l');
    await isFinished(tab);
    expect(complaints.filter(own)).toEqual([]);
  }
});
