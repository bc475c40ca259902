/// <reference lib="dom" />
/** Tests that the address contains everything that a view shows. */
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../../support/browser.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open, sameImage } from '../browser.js';
import { settled } from '../exported/file.js';
import { explore } from '../folder.js';
import { type Items, itemsAt, keptTown } from './town.js';

let url = '';
let items: Items = { block: '', agent: '' };
let last = 0;
/** Height of block number 3. */
let height = 0;

useBrowser(async () => {
  url = await explore(await keptTown(suiteFolder()), (stop) => afterAll(stop));
  items = await itemsAt(url);
  const { data } = (await (await fetch(`${url}/api/v1/view`)).json()) as {
    data: { entry: number; blocks: { height: number }[] };
  };
  last = data.entry;
  height = data.blocks[3]!.height;
});

const press = (tab: Page, name: string | RegExp) =>
  tab.locator('main').getByRole('button', { name, exact: true }).first().click();

/** Choices in each view, and the query parameters that these choices set. */
const views: readonly {
  view: string;
  item?: () => string;
  choose?: (tab: Page) => Promise<void>;
  says?: readonly string[];
}[] = [
  {
    view: 'now',
    async choose(tab) {
      await tab
        .getByRole('button', { name: /^Block 2, / })
        .first()
        .click();
      await tab.locator('.cells').press('ArrowRight');
      await tab.locator('.cells').press('ArrowDown');
    },
    says: ['focus', 'sel'],
  },
  {
    view: 'agents',
    async choose(tab) {
      for (const choice of ['reputation', 'personality']) {
        await tab.getByRole('button', { name: choice, exact: true }).last().click();
      }
      await tab.locator('.cells').press('End');
    },
    says: ['band', 'sel'],
  },
  {
    view: 'agents',
    async choose(tab) {
      await press(tab, 'Table');
      await press(tab, 'votes');
      await press(tab, 'Next');
    },
    says: ['as', 'sort', 'page'],
  },
  { view: 'opinion' },
  {
    view: 'opinion',
    async choose(tab) {
      await press(tab, 'Opinion map as a table');
    },
    says: ['table'],
  },
  {
    view: 'alliances',
    async choose(tab) {
      await tab.locator('.lane').first().click();
    },
    says: ['sel'],
  },
  { view: 'talk' },
  {
    view: 'talk',
    async choose(tab) {
      await press(tab, 'memes');
    },
    says: ['kind'],
  },
  {
    view: 'block',
    item: () => items.block,
    async choose(tab) {
      await press(tab, 'reject');
    },
    says: ['show'],
  },
  {
    view: 'agent',
    item: () => items.agent,
    async choose(tab) {
      await press(tab, 'Neighbours as a table');
      await press(tab, 'Votes as a table');
      await tab.getByLabel('Explained vote').selectOption({ index: 2 });
    },
    says: ['table', 'vote'],
  },
  { view: 'explore' },
];

/** Takes the text and a screenshot, without pointer, focus or announcements. */
async function pictureOf(tab: Page) {
  await tab.mouse.move(0, 0);
  await tab.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    for (const spoken of document.querySelectorAll('.unseen[aria-live]')) spoken.replaceChildren();
  });
  const words = await settled(tab, ['.figures', '.where', '.pill', 'main']);
  await hideBar(tab, true);
  const image = await tab.locator('main').screenshot();
  await hideBar(tab, false);
  return { words, image };
}

/** Hides the playback bar, because it covers part of a tall view. */
const hideBar = (tab: Page, hidden: boolean) =>
  tab.locator('.clock').evaluate((bar, is) => {
    (bar as HTMLElement).style.visibility = is ? 'hidden' : '';
  }, hidden);

browserTest.each(views)(
  `links: shows the same after a reload, $view $says`,
  async ({ view, item, choose, says = [] }) => {
    const path = item ? `${view}/${item()}` : view;
    const { tab, complaints } = await open(`${url}/ui/${path}?at=${last}`, modes.light);
    await settled(tab);
    // Earlier steps must not affect the display.
    for (const key of ['[', '[', ']', '.']) {
      const before = tab.url();
      await tab.keyboard.press(key);
      await tab.waitForURL((to) => to.href !== before);
    }
    await settled(tab);
    await choose?.(tab);
    for (const one of says) await tab.waitForURL(({ searchParams }) => searchParams.has(one));
    const before = await pictureOf(tab);
    const address = tab.url();
    const addresses = new Set<string>();
    tab.on('framenavigated', (frame) => addresses.add(frame.url()));
    await tab.reload();
    await expect
      .poll(async () => {
        const { words, image } = await pictureOf(tab);
        if (JSON.stringify(words) !== JSON.stringify(before.words)) return words;
        return (await sameImage(before.image, image)) ? before.words : 'another image';
      })
      .toEqual(before.words);
    // The page must not change the address while it loads.
    expect([...addresses]).toEqual([address]);
    expect(complaints).toEqual([]);
  },
);

browserTest('links: keeps the focused block in every view', async () => {
  const { tab } = await open(`${url}/ui/now?focus=3`, modes.light);
  await tab.getByRole('heading', { level: 1, name: new RegExp(`^Block ${height} `) }).waitFor();
  await tab.getByRole('link', { name: 'Agents', exact: true }).click();
  await tab.locator('main h1', { hasText: `block ${height}` }).waitFor();
  expect(tab.url()).toContain('focus=3');
  // The page accepts any address.
  const wild = 'focus=9e9&sel=%00&page=-3&sort=-nothing&as=table&table=..&color=x&band=%F0&at=1e3';
  const { tab: third, complaints } = await open(`${url}/ui/agents?${wild}`, modes.light);
  await third.getByRole('table').waitFor();
  expect(complaints).toEqual([]);
});
