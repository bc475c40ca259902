/** Tests a load run's page before, during and after the run. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { writeLoad } from '../../../dist/bench/load/files.js';
import type { LoadResult } from '../../../dist/bench/load/result.js';
import { loadResult, outage, saturation } from '../../bench/load/fixture.js';
import { watchLoad } from '../../cli/watch/load-run.js';
import { live } from '../../client/helpers.js';
import { browser, browserTest, useBrowser } from '../../support/browser.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import {
  accessFaults,
  checkedModes,
  type Mode,
  modes,
  open as opened,
  overflow,
  sameImage,
} from '../browser.js';
import { connection, lostBand } from '../voters.js';
import { bidi, hostileServer } from './hostile.js';

useBrowser();

const reads = ['--workload', 'reads', '--rate', '50', '--warmup', '1s', '--json'];
/** Measured time of a watched run, in seconds. */
const SECONDS = 15;
/** Timeout with room for a busy machine. */
const MOST_MS = 120_000;

async function open(at: string, mode: Mode = {}) {
  const found = await opened(at, mode);
  found.tab.setDefaultTimeout(MOST_MS);
  return found;
}

const said = (tab: Page) => tab.locator('main').innerText();

/** Serves a saved load run until the test ends. Returns the page address. */
async function explore(result: LoadResult): Promise<string> {
  const folder = join(temporaryFolder(), 'run');
  await writeLoad(result, folder);
  const [line] = await begin(['explore', folder, '--json']).printed(/^\{.*\}\n/);
  return (JSON.parse(line!) as { page: string }).page;
}

/** Returns a result with every optional part. */
const whole = () =>
  loadResult(
    {
      ...{ workload: 'mixed', operations: ['vote', 'propose', 'read', 'vote (beside)'] },
      ...{ seconds: 30, failing: 0.05, stall: true },
    },
    { saturation: saturation(), outages: [outage()] },
  );

browserTest('load: starts and follows a run by keyboard', async () => {
  const { url } = await live();
  const run = await watchLoad([
    ...['--url', url, ...reads, '--duration', `${SECONDS}s`, '--watch=paused'],
  ]);
  const { tab, complaints } = await open(run.page, modes.light);
  // The page removes the token from the address.
  expect(tab.url()).toBe(`${run.url}/ui/load`);
  await connection(tab).getByText('not started').waitFor();
  const focused = () => tab.evaluate(() => document.activeElement?.textContent ?? '');
  for (let presses = 0; (await focused()) !== 'Start'; presses += 1) {
    expect(presses).toBeLessThan(20);
    await tab.keyboard.press('Tab');
  }
  await tab.keyboard.press('Enter');
  await tab
    .locator('main')
    .getByText(/^Measuring: /)
    .waitFor();
  expect(
    await tab.getByRole('listitem').filter({ hasText: 'measuring' }).getAttribute('aria-current'),
  ).toBe('step');
  await tab.getByRole('img', { name: /^Arrivals over time/ }).waitFor();
  expect(await tab.title()).toContain('reads, 50/s');
  await tab
    .locator('main')
    .getByText(/^Measured for /)
    .waitFor();
  await run.ended;
  const result = JSON.parse(run.stdout()) as LoadResult;
  // The last state stays visible after the command ends.
  const text = await said(tab);
  expect(text).toContain(`${result.verdict}.`);
  for (const reason of result.reasons) expect(text).toContain(reason);
  expect(text).toMatch(/p50 response\n[\d.]+ m?s \(read/);
  expect(await tab.locator('.bands').innerText()).toBe('');
  await tab.getByRole('button', { name: 'Arrivals over time as a table' }).press('Enter');
  const rows = tab.getByRole('row').filter({ has: tab.getByRole('rowheader') });
  const table = tab.getByRole('table', { name: /^Arrivals over time/ });
  expect(await table.locator('tbody tr').count()).toBe(Math.min(SECONDS, result.seconds.length));
  expect(await rows.count()).toBeGreaterThan(5);
  const cells = await table.locator('tbody tr').last().locator('th, td').allInnerTexts();
  const { intended, accepted, failed } = result.seconds[0]!;
  expect([cells, complaints]).toEqual([['1', `${accepted}/s`, `${failed}/s`, `${intended}/s`], []]);
});

browserTest('load: stops a run from the page', async () => {
  const { url } = await live();
  const run = await watchLoad(['--url', url, ...reads, '--duration', '10m', '--watch']);
  const { tab, complaints } = await open(run.page);
  await tab
    .locator('main')
    .getByText(/^Measuring: /)
    .waitFor();
  await tab.getByRole('link', { name: 'Network' }).waitFor();
  await tab.getByRole('button', { name: 'Stop' }).click();
  await tab
    .locator('main')
    .getByText(/interrupted\./)
    .waitFor();
  expect([(await run.ended).signal, complaints]).toEqual(['SIGINT', []]);
});

browserTest('load: has no controls without the token', async () => {
  const { url } = await live();
  const run = await watchLoad(['--url', url, ...reads, '--watch=paused']);
  const { tab } = await open(`${run.url}/ui/`);
  await tab.getByText('#token').waitFor();
  expect(await tab.getByRole('button', { name: 'Start' }).count()).toBe(0);
  expect(await accessFaults(tab)).toEqual([]);
});

browserTest('load: reports a killed command and keeps its figures', async () => {
  const { url } = await live();
  const run = await watchLoad(['--url', url, ...reads, '--duration', '10m', '--watch']);
  const { tab } = await open(run.page);
  await tab.getByText(/^Second \d+: /).waitFor();
  await run.stop('SIGKILL');
  await lostBand(tab).waitFor();
  expect(await said(tab)).toMatch(/Second \d+: accepted /);
});

browserTest('load: shows the same second after a reload', async () => {
  const page = await explore(whole());
  const { tab, complaints } = await open(`${page}?at=12`, modes.light);
  await tab.getByText('Second 13: ').waitFor();
  const snapshot = async () => tab.screenshot({ fullPage: true, animations: 'disabled' });
  const [text, before] = [await said(tab), await snapshot()];
  await tab.reload();
  await tab.getByText('Second 13: ').waitFor();
  expect(await said(tab)).toBe(text);
  expect(await sameImage(before, await snapshot())).toBe(true);
  await tab.getByRole('slider').focus();
  await tab.keyboard.press('ArrowRight');
  await tab.waitForURL(/at=13$/);
  expect(await tab.getByRole('slider').getAttribute('aria-valuetext')).toMatch(
    /^Second 14: accepted /,
  );
  await tab.keyboard.press('End');
  await tab.waitForURL((at) => !at.search.includes('at='));
  expect(await said(tab)).toContain('Second 30: ');
  expect(complaints).toEqual([]);
});

browserTest.each(checkedModes)('load: passes axe with charts and tables, %s', async (name) => {
  const page = await explore(whole());
  const waiting = await watchLoad(['--url', (await live()).url, ...reads, '--watch=paused']);
  for (const at of [page, `${page}?at=3`, page.replace('load', 'nowhere'), waiting.page]) {
    const { tab, complaints } = await open(at, modes[name]);
    expect([at, await accessFaults(tab)]).toEqual([at, []]);
    expect([at, await overflow(tab), complaints]).toEqual([at, 0, []]);
    await tab.close();
  }
  const { tab, complaints } = await open(page, modes[name]);
  await tab.getByText(/^Second 30: /).waitFor();
  const twins = tab.getByRole('button', { name: / as a table$/ });
  expect(await twins.count()).toBe(5);
  for (const twin of await twins.all()) await twin.click();
  expect(await tab.getByRole('table').count()).toBe(9);
  expect([await tab.getByRole('table', { name: 'Outages' }).count(), complaints]).toEqual([1, []]);
});

browserTest('load: shows hostile texts as short text only', async () => {
  const url = await hostileServer();
  const args = ['--url', url, ...reads, '--duration', '4s', '--watch=paused'];
  const refused = await watchLoad(args);
  const first = await open(refused.page, modes.narrow);
  await first.tab.getByRole('button', { name: 'Start' }).click();
  await first.tab
    .locator('main')
    .getByText(/^Measured for /)
    .waitFor();
  await first.tab.getByRole('button', { name: 'Failed requests as a table' }).click();
  const failed = await watchLoad(['--url', url, '--workload', 'votes', '--watch=paused']);
  const second = await open(failed.page, modes.narrow);
  await second.tab.getByRole('button', { name: 'Start' }).click();
  await connection(second.tab).getByText('failed').waitFor();
  for (const { tab, complaints } of [first, second]) {
    const text = await said(tab);
    expect(text).toContain('<img src=x');
    for (const trick of bidi.replace(/[\w.]/g, '')) expect(text).not.toContain(trick);
    expect(text.length).toBeLessThan(8_000);
    expect(await tab.locator('main img, main script').count()).toBe(0);
    expect(await tab.getByRole('link', { name: 'Network' }).count()).toBe(0);
    expect([await overflow(tab), complaints]).toEqual([0, []]);
  }
  await Promise.all([refused.ended, failed.ended]);
});

browserTest('load: stays within its size budget', async () => {
  const page = await explore(whole());
  const tab = await browser.newPage();
  let bytes = 0;
  tab.on('response', async (response) => {
    const { responseBodySize } = await response.request().sizes();
    if (response.url().includes('/ui/')) bytes += responseBodySize;
  });
  await tab.goto(page);
  await tab.getByText(/^Second 30: /).waitFor();
  await tab.close();
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(80 * 1_024);
});
