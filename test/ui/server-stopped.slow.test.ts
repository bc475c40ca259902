import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { pageOf } from '../cli/watch/page.js';
import { browserTest, useBrowser } from '../support/browser.js';
import { simJson } from '../support/command.js';
import { type Begun, begin } from '../support/running-command.js';
import { suiteFolder } from '../support/runs.js';
import { accessFaults, open } from './browser.js';
import { connection, isFinished, lostBand } from './voters.js';

const run = join(suiteFolder(), 'run');

useBrowser(async () => {
  await simJson('--agents', '30', '--blocks', '4', '--seed', '7', '--out', run);
});

const shown = (value: number) => value.toLocaleString('en');

/** Opens the page of a run that is waiting to be started. */
async function watched(...more: string[]): Promise<{ begun: Begun; tab: Page }> {
  const size = ['--agents', '30', '--blocks', '3', '--seed', '7', '--json'];
  const begun = begin(['sim', '--watch=paused', '--speed', 'max', ...size, ...more]);
  const { url, token } = await pageOf(begun);
  const { tab } = await open(`${url}/ui/#token=${token}`);
  return { begun, tab };
}

browserTest('over: shows the last entry of a finished run', async () => {
  const { begun, tab } = await watched();
  await tab.getByRole('button', { name: 'Start the run' }).click();
  // The command waits for a page with the token, whose reader may want to run again.
  await tab.getByRole('button', { name: 'End the command' }).click();
  const [text] = await begun.printed(/^\{[\s\S]*\}\n/);
  const { entries } = JSON.parse(text!) as { entries: number };
  expect(await begun.ended).toMatchObject({ code: 0 });
  await isFinished(tab);
  // Nothing is left to run or to control: the bar plays what has happened.
  await tab.getByRole('button', { name: 'Play', exact: true }).waitFor();
  expect(await tab.getByRole('link', { name: 'Change and run' }).count()).toBe(0);
  await tab.getByText(`entry ${shown(entries - 1)}`, { exact: true }).waitFor();
  // The server's end is expected, so the page does not report it.
  await tab.waitForTimeout(2_500);
  expect(await lostBand(tab).count()).toBe(0);
  await tab.getByRole('slider', { name: 'Position in the history' }).press('Home');
  await tab.getByText(/^paused, /).waitFor();
});

browserTest('over: a waiting run has one start button', async () => {
  const { begun, tab } = await watched();
  await connection(tab).getByText('not started', { exact: true }).waitFor();
  expect(await tab.getByText('folkmoot agent register').count()).toBe(0);
  const starts = tab.getByRole('button', { name: /^(start|begin|run|resume)/i });
  expect([await starts.count(), await accessFaults(tab)]).toEqual([1, []]);
  // The band has all controls, so no menu can cover the start button.
  expect(await tab.locator('.world').count()).toBe(0);
  await tab.getByLabel('Start', { exact: true }).getByRole('button', { name: 'Step' }).waitFor();
  // Without the token, the page explains how to start.
  const stranger = await open(tab.url().replace(/#.*/, ''));
  await stranger.tab.getByLabel('Start').getByText('#token').waitFor();
  await stranger.tab.close();
  expect(await starts.count()).toBe(1);
  await starts.click();
  await tab.getByRole('button', { name: 'End the command' }).click();
  expect(await begun.ended).toMatchObject({ code: 0 });
  await tab.getByLabel('Start', { exact: true }).waitFor({ state: 'detached' });
});

browserTest('over: a run paused by the reader waits at its end', async () => {
  const { begun, tab } = await watched();
  await tab.getByLabel('Run until').selectOption('60 s later');
  await tab.getByLabel('End', { exact: true }).getByText('The run has finished').waitFor();
  await isFinished(tab);
  expect(await tab.getByRole('button', { name: 'Step' }).count()).toBe(0);
  const end = tab.getByRole('button', { name: 'End the command' });
  await end.click();
  expect(await begun.ended).toMatchObject({ code: 0 });
  await end.waitFor({ state: 'hidden' });
});
