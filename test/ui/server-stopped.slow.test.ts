/** What the page says when nothing more will come: a folder that is lost, a run that is over. */
import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageOf } from '../cli/watch/page.js';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { simJson } from '../support/command.js';
import { temporaryFolder } from '../support/fixture.js';
import { type Begun, begin } from '../support/running-command.js';
import { suiteFolder } from '../support/runs.js';
import { World } from '../support/service/world.js';
import { accessFaults, open } from './browser.js';

const needs = `(needs ${executablePath})`;
const run = join(suiteFolder(), 'run');
let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  await simJson('--agents', '30', '--blocks', '4', '--seed', '7', '--out', run);
  browser = await launch();
});
afterAll(() => browser?.close());

const shown = (value: number) => value.toLocaleString('en');

/** `folkmoot explore` of a folder. */
async function explored(folder: string): Promise<Begun & { url: string }> {
  const begun = begin(['explore', folder, '--json', '--open', 'no']);
  const [line] = await begun.printed(/^\{.*\}\n/);
  return { ...begun, url: (JSON.parse(line!) as { url: string }).url };
}

const losses: [what: string, lose: (folder: string) => void][] = [
  ['was deleted', (folder) => rmSync(folder, { recursive: true })],
  [
    'was replaced by another',
    (folder) => {
      const other = join(temporaryFolder(), 'run');
      cpSync(run, other, { recursive: true });
      renameSync(folder, `${folder}-before`);
      renameSync(other, folder);
    },
  ],
];

test.skipIf(!hasBrowser).each(losses)(
  `lost: a folder that %s is told, and what was read is still shown ${needs}`,
  async (what, lose) => {
    const folder = join(temporaryFolder(), 'run');
    cpSync(run, folder, { recursive: true });
    const { url } = await explored(folder);
    const { tab, complaints } = await open(browser, `${url}/ui/`);
    await tab.getByText('finished run').waitFor();
    lose(folder);
    const band = tab.getByRole('alert').filter({ hasText: what });
    await band.waitFor();
    const said = await band.innerText();
    expect(said).toContain('what was read before is still shown, and nothing new');
    await tab.getByText('folder lost', { exact: true }).waitFor();
    // Whoever comes later is told, too; and blocks and agents are still there.
    await tab.goto(`${url}/ui/block`);
    await tab.getByText('as the server says').waitFor();
    await tab.getByRole('alert').filter({ hasText: what }).waitFor();
    await tab.goto(`${url}/ui/agents?at=20`);
    await tab.getByRole('heading', { name: / agents/ }).waitFor();
    expect(complaints).toEqual([]);
  },
);

test.skipIf(!hasBrowser)(
  `followed: a folder that a server writes is shown as it grows ${needs}`,
  async () => {
    const folder = join(temporaryFolder(), 'live');
    const serving = ['--port', '0', '--data', folder, '--limits', 'bench'];
    const [line] = await begin(['serve', ...serving]).printed(/^\{.*\}\n/);
    const { url: there } = JSON.parse(line!) as { url: string };
    const live = new World({ url: there, wsUrl: '' });
    const { url } = await explored(folder);
    const { tab, complaints } = await open(browser, `${url}/ui/agents`);
    await tab.getByRole('heading', { name: '0 agents' }).waitFor();
    await live.joinAll('ada', 'bob', 'cy');
    await tab.getByRole('heading', { name: /^3 agents/ }).waitFor();
    await tab.getByText('live', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  },
);

/** The page of a run that waits before its first window. */
async function watched(...more: string[]): Promise<{ begun: Begun; tab: Page }> {
  const size = ['--agents', '30', '--blocks', '3', '--seed', '7', '--json'];
  const begun = begin(['sim', '--watch=paused', '--speed', 'max', ...size, ...more]);
  const { url, token } = await pageOf(begun);
  const { tab } = await open(browser, `${url}/ui/#token=${token}`);
  return { begun, tab };
}

test.skipIf(!hasBrowser)(
  `over: a run that ends is said to be over, up to its last entry ${needs}`,
  async () => {
    const { begun, tab } = await watched();
    await tab.getByRole('button', { name: 'Start the run' }).click();
    const [text] = await begun.printed(/^\{[\s\S]*\}\n/);
    const { entries } = JSON.parse(text!) as { entries: number };
    expect(await begun.ended).toMatchObject({ code: 0 });
    await tab.getByText('finished run', { exact: true }).waitFor();
    await tab.getByText('Run over', { exact: true }).click();
    await tab.getByText('its command ends. What is shown here stays.').waitFor();
    await tab.getByText(`entry ${shown(entries - 1)}`, { exact: true }).waitFor();
    // Its server is gone: that is no news to be waited for.
    await tab.waitForTimeout(2_500);
    expect(await tab.getByText('No news for').count()).toBe(0);
    await tab.getByRole('slider', { name: 'Position in the history' }).press('Home');
    await tab.getByText(/^paused, /).waitFor();
  },
);

test.skipIf(!hasBrowser)(
  `over: a run that waits for its start has one button to start it ${needs}`,
  async () => {
    const { begun, tab } = await watched();
    await tab.getByText('not started', { exact: true }).waitFor();
    expect(await tab.locator('.pill').innerText()).toBe('not started');
    expect(await tab.getByText('folkmoot agent register').count()).toBe(0);
    const starts = tab.getByRole('button', { name: /^(start|begin|go on|resume)/i });
    expect(await starts.count()).toBe(1);
    expect(await accessFaults(tab)).toEqual([]);
    await tab.getByText('Network paused').click();
    expect(await starts.count()).toBe(1);
    // Close the menu, which lies over the button.
    await tab.getByText('Network paused').click();
    // Without the token, the page says where the way to start is.
    const stranger = await open(browser, tab.url().replace(/#.*/, ''));
    await stranger.tab.getByLabel('Start').getByText('open the address').waitFor();
    await stranger.tab.close();
    expect(await starts.count()).toBe(1);
    await starts.click();
    expect(await begun.ended).toMatchObject({ code: 0 });
    await tab.getByLabel('Start', { exact: true }).waitFor({ state: 'detached' });
  },
);

test.skipIf(!hasBrowser)(
  `over: a run that was stopped by hand waits at its end, and is let go ${needs}`,
  async () => {
    const { begun, tab } = await watched();
    await tab.getByText('Network paused').click();
    await tab.getByLabel('Go on until').selectOption('60 s have passed');
    await tab.getByText('Run over', { exact: true }).waitFor();
    await tab.getByText('its command waits').waitFor();
    await tab.getByText('finished run', { exact: true }).waitFor();
    expect(await tab.getByRole('button', { name: 'Step' }).count()).toBe(0);
    await tab.getByRole('button', { name: 'Let it end' }).click();
    expect(await begun.ended).toMatchObject({ code: 0 });
    await tab.getByText('its command ends').waitFor();
  },
);
