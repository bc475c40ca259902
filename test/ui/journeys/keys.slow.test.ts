/// <reference lib="dom" />
/** Tests all views by keyboard alone. */
import type { Page } from 'playwright-core';
import { pageOf } from '../../cli/watch/page.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { settled } from '../exported/file.js';
import { explore } from '../folder.js';
import { connection } from '../voters.js';
import { type Items, itemsAt, keptTown, pathsOf } from './town.js';
import { focused, tabTo, walkAround } from './walk.js';

const folder = suiteFolder();
let url = '';
let items: Items;

useBrowser(async () => {
  url = await explore(await keptTown(folder), (stop) => afterAll(stop));
  items = await itemsAt(url);
});

browserTest.each(['light', 'narrow'])(
  'keys: reaches every control by Tab with a visible focus, %s',
  async (mode) => {
    for (const path of pathsOf(items)) {
      const { tab } = await open(`${url}/ui/${path}`, modes[mode]);
      await settled(tab);
      const { stops, ...walk } = await walkAround(tab);
      expect([path, walk]).toEqual([path, { missed: [], unseen: [] }]);
      expect(stops).toBeGreaterThan(15);
      // Shift+Tab returns the same way.
      const names: string[] = [];
      for (const key of ['Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Tab', 'Tab']) {
        await tab.keyboard.press(key);
        names.push(await focused(tab));
      }
      expect([path, names[4], names[6]]).toEqual([path, names[0], names[2]]);
      await tab.close();
    }
  },
);

const heading = (tab: Page, name: RegExp) => tab.getByRole('heading', { level: 1, name }).waitFor();
const press = (tab: Page, key: string) => tab.keyboard.press(key);
const chosen = (tab: Page) => new URL(tab.url()).searchParams.get('sel');

browserTest('keys: works through all views', async () => {
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  await settled(tab);
  const to = (name: RegExp) => tabTo(tab, name);
  const enter = async (name: RegExp) => {
    await to(name);
    await press(tab, 'Enter');
  };
  const goTo = async (name: RegExp, title: RegExp) => {
    await tabTo(tab, name, 'Shift+Tab');
    await press(tab, 'Enter');
    await heading(tab, title);
  };

  // Now view: the skip link, a block, and an agent in the grid.
  await press(tab, 'Tab');
  expect(await focused(tab)).toBe('Skip to the view');
  await press(tab, 'Enter');
  await enter(/^Block 2, /);
  await heading(tab, /^Block 2 /);
  await to(/^60 agents, /);
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'Enter']) await press(tab, key);
  await heading(tab, /^60 agents/);
  const card = tab.getByLabel('Selected agent');
  const name = await card.getByRole('heading').innerText();

  // Agents view: a different cell, which Enter opens, and the links between grid and agent.
  await to(/^60 agents, /);
  await press(tab, 'ArrowLeft');
  await expect.poll(() => card.getByRole('heading').innerText()).not.toBe(name);
  await press(tab, 'ArrowRight');
  await press(tab, 'Enter');
  await heading(tab, new RegExp(`^${name} `));
  await enter(/^Show in grid$/);
  await heading(tab, /^60 agents/);
  await enter(/^Open agent$/);
  await heading(tab, new RegExp(`^${name} `));

  // Agent view: a different vote, the explanation as a table, and a neighbour.
  await to(/Block \d+: /);
  const which = tab.getByLabel('Explained vote');
  const before = await which.inputValue();
  await press(tab, 'ArrowDown');
  expect(await which.inputValue()).not.toBe(before);
  await enter(/^Vote explanation as a table$/);
  await tab.getByRole('figure', { name: 'Vote explanation' }).getByRole('table').first().waitFor();
  await enter(/, (?:approves|rejects|has not voted)|^\S+ (?:approves|rejects|has not voted)/);
  await tab.waitForURL((at) => at.pathname.includes('/agent/'));

  // Search, which works from any view, and the sorted table of agents.
  await press(tab, '/');
  await tab.waitForURL('**/ui/agents**');
  await expect.poll(() => tab.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  await tab.keyboard.type(name);
  await press(tab, 'Enter');
  await expect.poll(() => card.getByRole('heading').innerText()).toBe(name);
  expect(await tab.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  await enter(/^reputation$/);
  await enter(/^Table$/);
  await enter(/^votes/);
  await tab.locator('th[aria-sort=descending]', { hasText: 'votes' }).waitFor();
  const row = tab.locator('tbody tr').first().getByRole('button');
  await to(new RegExp(`^${await row.innerText()}$`));
  await press(tab, 'Enter');
  await tab.locator('tr.chosen').waitFor();
  await enter(/^Close$/);
  await card.waitFor({ state: 'hidden' });
  expect(await tab.evaluate(() => document.activeElement?.id)).toBe('view');

  // Opinion and Alliances views, each with its table.
  await goTo(/^Opinion$/, /^Voting similarity/);
  await enter(/^Opinion map as a table$/);
  await tab.getByRole('table').waitFor();
  await goTo(/^Alliances$/, /alliance/);
  await to(/members: /);
  await press(tab, 'Space');
  await tab.locator('.lane-open').waitFor();
  await enter(/^Alliance lifetimes as a table$/);
  await tab.getByRole('table').waitFor();

  // Talk view: one kind of message, and a meme.
  await goTo(/^Talk$/, /^Messages /);
  await enter(/^memes$/);
  expect(await tab.getByRole('button', { name: 'memes', pressed: true }).count()).toBe(1);
  await to(/^Show (?:text|image)$/);
  const meme = tab.locator('.memes li').first();
  const closed = await meme.innerText();
  await press(tab, 'Enter');
  await expect.poll(() => meme.innerText()).not.toBe(closed);

  // Block view: rejections, and the certificate.
  await goTo(/^Block$/, /^Block \d+ /);
  await enter(/^reject$/);
  expect(await tab.getByRole('button', { name: 'reject', pressed: true }).count()).toBe(1);
  await tabTo(tab, /^← Block/, 'Shift+Tab');
  const [height] = /\d+/.exec(await focused(tab))!;
  await press(tab, 'Enter');
  await heading(tab, new RegExp(`^Block ${height} `));
  await enter(/^Create certificate$/);
  await tab.getByRole('link', { name: `Save block-${height}` }).waitFor();

  // Explore view: an entry, which keeps the focus; the signed request; and the log replay.
  await goTo(/^Explore$/, /^Entry /);
  await to(/^\d+: open this entry$/);
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp']) await press(tab, key);
  const there = await focused(tab);
  await press(tab, 'Enter');
  await heading(tab, new RegExp(`^Entry ${Number.parseInt(there, 10)} `));
  await settled(tab);
  expect(await focused(tab)).toBe(there);
  await to(/^Signed request$/);
  await press(tab, 'Enter');
  expect(await tab.locator('.entry details[open]').count()).toBe(1);
  await tabTo(tab, /^Replay in this browser$/, 'Shift+Tab');
  await press(tab, 'Space');
  await tab.locator('.proving.match').waitFor();

  // Request doctor view: Tab leaves the text field.
  await goTo(/^Request doctor$/, /^Request doctor/);
  await tab.evaluate(() => document.getElementById('view')?.focus());
  await press(tab, 'Tab');
  await tab.keyboard.type('{ l , . ? /');
  await enter(/^Check request$/);
  await tab.getByRole('alert').waitFor();

  // Playback works in any view.
  await to(/^Position in the history$/);
  for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await press(tab, key);
  await tab.waitForURL(({ searchParams }) => searchParams.get('at') === '2');
  await to(/^Next event$|^Keys$|^Skip/);
  expect(complaints).toEqual([]);
});

browserTest.each([
  ['explore', '.happened', 100, /^300: open this entry$/],
  ['talk?kind=all', '.talk-lines', 10, null],
] as const)(
  'keys: makes the list of %s one tab stop with arrow keys',
  async (view, list, least, first) => {
    const { tab, complaints } = await open(
      `${url}/ui/${view}${view.includes('?') ? '&' : '?'}at=300`,
      modes.light,
    );
    await settled(tab);
    const links = tab.locator(`${list} a`);
    const count = await links.count();
    const stops = await tab.locator(`${list} a:not([tabindex="-1"])`).count();
    expect([count > least, stops]).toEqual([true, 1]);
    await tabTo(tab, first ?? new RegExp(`^${await links.first().innerText()}$`));
    const standing = () =>
      links.evaluateAll((all) => all.indexOf(document.activeElement as HTMLElement));
    await press(tab, 'Home');
    const seen = [await standing()];
    const rows = await tab.locator(`${list} li`).count();
    for (let row = 0; row < rows; row += 1) {
      for (let before = -1; before !== (await standing()); ) {
        before = await standing();
        await press(tab, 'ArrowRight');
        seen.push(await standing());
      }
      await press(tab, 'ArrowDown');
      seen.push(await standing());
    }
    expect(new Set(seen).size).toBe(count);
    await press(tab, 'End');
    const last = await standing();
    // Tab leaves the list, and Shift+Tab returns to the same link.
    await press(tab, 'Tab');
    expect(await standing()).toBe(-1);
    await press(tab, 'Shift+Tab');
    expect(await standing()).toBe(last);
    expect(complaints).toEqual([]);
  },
);

browserTest('keys: a held arrow key visits every cell', async () => {
  const { tab, complaints } = await open(`${url}/ui/agents`, modes.light);
  // Browsers throw after too many writes to the address.
  await tab.evaluate(() => {
    const replace = history.replaceState.bind(history);
    let count = 0;
    history.replaceState = (...all) => {
      count += 1;
      if (count > 100) throw new DOMException('more than 100 times in 30 seconds', 'SecurityError');
      replace(...all);
    };
  });
  await settled(tab);
  const { agents } = await (await fetch(`${url}/api/v1/view`))
    .json()
    .then(({ data }) => data as { agents: { id: string }[] });
  await tab.locator('.cells').focus();
  await press(tab, 'ArrowRight');
  const seen = new Set<string>();
  const name = tab.getByLabel('Selected agent').locator('code');
  for (let cell = 0; cell < agents.length; cell += 1) {
    seen.add(await name.innerText());
    await press(tab, 'ArrowRight');
  }
  expect(seen.size).toBe(agents.length);
  for (let more = 0; more < 60; more += 1) await press(tab, 'ArrowLeft');
  await press(tab, 'End');
  const last = await name.innerText();
  await expect.poll(() => chosen(tab)).toContain(last.slice(0, 20));
  expect(complaints).toEqual([]);
});

browserTest('keys: steps and resumes a run', async () => {
  const size = ['--agents', '20', '--blocks', '2', '--seed', '7', '--json'];
  const begun = begin(['sim', '--watch=paused', '--speed', 'max', ...size]);
  const page = await pageOf(begun);
  const { tab } = await open(`${page.url}/ui/#token=${page.token}`, modes.light);
  await settled(tab);
  const seqNow = async () => (await page.read<{ seq: number }>('/api/v1/meta')).seq;
  const before = await seqNow();
  await tabTo(tab, /^Step$/);
  for (let steps = 0; steps < 5; steps += 1) await press(tab, 'Enter');
  await expect.poll(seqNow).toBeGreaterThan(before);
  // The start band is gone, and the bar controls the run.
  await tab.getByLabel('Start', { exact: true }).waitFor({ state: 'detached' });
  await tabTo(tab, /^Step$/);
  const stepped = await seqNow();
  for (let steps = 0; steps < 5; steps += 1) await press(tab, 'Enter');
  await expect.poll(seqNow).toBeGreaterThan(stepped);
  await tabTo(tab, /^Resume the run$/, 'Shift+Tab');
  await press(tab, 'Enter');
  await tabTo(tab, /^End the command$/);
  await press(tab, 'Enter');
  expect(await begun.ended).toMatchObject({ code: 0 });
  await connection(tab).getByText('finished run', { exact: true }).waitFor();
});
