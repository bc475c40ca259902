/** Compares an exported file with `explore` on the same run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { explore } from '../folder.js';
import { fileUrl, offline, settled, type Where } from './file.js';

const folder = suiteFolder();
const run = join(folder, 'run');
const file = join(run, 'run.html');
let url = '';
let last = 0;
let block = '';
let agent = '';

useBrowser(async () => {
  const size = ['--agents', '60', '--blocks', '8', '--seed', '11'];
  expect((await folkmoot(['sim', ...size, '--out', run])).code).toBe(0);
  const ended = await folkmoot(['explore', run, '--export', '--json']);
  expect(ended.code, ended.stderr).toBe(0);
  last = (JSON.parse(ended.stdout) as { entries: number }).entries - 1;
  url = await explore(run, (stop) => afterAll(stop));
  const read = async <T>(path: string) =>
    ((await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: T }).data;
  const { blocks } = await read<{ blocks: { block_hash: string; producer: { id: string } }[] }>(
    'blocks',
  );
  block = blocks[3]!.block_hash;
  agent = blocks[3]!.producer.id;
});

/** Waits until both pages show equal text, because a busy machine may stall a page. */
async function expectSame(tabs: readonly [Page, Page], parts: readonly string[]): Promise<void> {
  const texts = async (tab: Page) =>
    (await settled(tab, parts)).map((text) => text.replaceAll('\u2026', ''));
  const compared = async () => {
    const [one, other] = await Promise.all(tabs.map(async (tab) => (await texts(tab)).join('\n')));
    return one === other ? 'the same' : `${one}\n\nagainst\n\n${other}`;
  };
  await expect.poll(compared).toBe('the same');
}

/** Parts of each view that do not require the log. */
const views: readonly { view: string; item: () => string | null; parts: readonly string[] }[] = [
  { view: 'now', item: () => null, parts: ['main'] },
  { view: 'agents', item: () => null, parts: ['main'] },
  { view: 'opinion', item: () => null, parts: ['main'] },
  { view: 'alliances', item: () => null, parts: ['main'] },
  { view: 'talk', item: () => null, parts: ['main'] },
  { view: 'agent', item: () => agent, parts: ['main h1', '[aria-labelledby=votes]', '.lines'] },
  {
    view: 'block',
    item: () => block,
    parts: ['[aria-labelledby=block]', '.votes tbody th', '.votes td:nth-child(2)', '.votes q'],
  },
  { view: 'explore', item: () => null, parts: ['main h1', '[aria-labelledby=happened]'] },
];

browserTest.each(views)(`exported: shows $view like explore`, async ({ view, item, parts }) => {
  for (const at of [null, last, Math.floor(last / 2), Math.floor((3 * last) / 4)]) {
    const there = await offline(file, { view, item: item(), at });
    const path = `${view}${item() === null ? '' : `/${item()}`}`;
    const here = await open(`${url}/ui/${path}${at === null ? '' : `?at=${at}`}`);
    await here.tab.setViewportSize(modes.light!.viewport!);
    const all = ['.figures', '.where', '.pill', ...parts];
    await expectSame([there.tab, here.tab], all);
    expect(there.complaints).toEqual([]);
    await there.tab.close();
    await here.tab.close();
  }
});

browserTest('exported: groups agents like explore', async () => {
  const there = await offline(file, { view: 'agents', band: 'group', color: 'group' });
  const here = await open(`${url}/ui/agents?band=group&color=group`);
  await here.tab.getByRole('button', { name: 'group', pressed: true }).first().waitFor();
  await expectSame([there.tab, here.tab], ['main']);
  expect(there.complaints).toEqual([]);
});

browserTest('exported: navigates between views, and back', async () => {
  const { tab, complaints } = await offline(file, { at: 120 });
  await tab.getByRole('link', { name: 'Agents', exact: true }).click();
  await tab.waitForURL(/\?view=agents&at=120$/);
  await tab.getByRole('link', { name: 'Explore', exact: true }).click();
  await tab.getByRole('heading', { name: /^Entry 120/ }).waitFor();
  await tab.getByRole('button', { name: 'Next event' }).click();
  await tab.getByRole('heading', { name: /^Entry 12[1-9]/ }).waitFor();
  await tab.goBack();
  await tab.waitForURL(/view=agents/);
  // Open the link in a second tab. The link includes the entry once the page has gone back.
  const talk = tab.getByRole('link', { name: 'Talk', exact: true });
  const [other] = await Promise.all([
    tab.context().waitForEvent('page'),
    talk.and(tab.locator('[href*="at=12"]')).click({ modifiers: ['Control'] }),
  ]);
  await other.getByRole('link', { name: 'Talk', exact: true, includeHidden: false }).waitFor();
  expect(other.url()).toContain('?view=talk&at=12');
  await other.close();
  expect(complaints).toEqual([]);
});

browserTest('exported: explains missing parts', async () => {
  const there = async (where: Where) => {
    const { tab } = await offline(file, where);
    return (await settled(tab)).join('\n');
  };
  const proof = await there({ view: 'explore' });
  const { digest } = JSON.parse(readFileSync(join(run, 'summary.json'), 'utf8')) as {
    digest: string;
  };
  for (const part of [digest, 'npx folkmoot explore --verify']) expect(proof).toContain(part);
  const votes = await there({ view: 'block', item: block });
  expect(votes).toContain('npx folkmoot explore');
  expect(votes).not.toMatch(/unchecked|failed|Certificate/);
  expect(await there({ view: 'doctor' })).toContain('npx folkmoot explore');
  expect(await there({ view: 'block', item: '0123' })).toContain('Block not found');
  expect(await there({ view: 'nothing' })).toContain('“nothing”');
  expect(await there({ at: 99_999_999 })).toContain('Block');
  const { tab } = await offline(file);
  expect(await tab.getByRole('link', { name: /doctor|Reference/ }).count()).toBe(0);
});

browserTest('exported: is linked from the report of the run', async () => {
  const { tab } = await open(fileUrl(join(run, 'report.html')));
  const slowest = tab.getByRole('link', { name: /^Slowest block/ });
  const [, height] = /block: (\d+)/.exec(await slowest.innerText())!;
  await slowest.click();
  await tab.getByRole('heading', { name: new RegExp(`^Block ${height} `) }).waitFor();
  await tab.goBack();
  await tab.getByRole('link', { name: /^End, entry/ }).click();
  await tab.getByText('finished run').waitFor();
  expect(await tab.locator('.where').innerText()).toContain(`entry ${last.toLocaleString('en')}`);
});
