/** Tests folders with hostile text, and with 10 MB of text. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { live } from '../../client/helpers.js';
import { changed, changeEntry, changeJson, type Stored } from '../../engine/replay/folders.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { modes, open } from '../browser.js';
import { offline, settled } from '../exported/file.js';
import { copyOf, explored, keptRun } from '../folder.js';
import { filled, genesis, harmless, markup, pathsOf, peopled, struck } from './strangers.js';

useBrowser();

/** Creates a server folder with hostile text in all fields. */
async function left() {
  const folder = join(temporaryFolder(), 'run');
  const { url, stop } = await live({ path: join(folder, 'network'), genesis });
  const of = await peopled(url);
  await stop();
  return { folder, of };
}

/** Limit on the length of text in a view. */
const MOST_LETTERS = 40_000;

async function expectHarmless(tab: Page, path: string) {
  await settled(tab);
  expect([path, await struck(tab)]).toEqual([path, harmless]);
  const letters = await tab.evaluate(() => document.body.textContent?.length ?? 0);
  expect([path, letters < MOST_LETTERS]).toEqual([path, true]);
}

async function opened(tab: Page) {
  for (const button of await tab.locator('.memes button').all()) await button.click();
  await tab.getByText('30000 × 30000').waitFor();
  expect(await tab.locator('.memes canvas').count()).toBe(1);
}

browserTest('kept: shows hostile texts of a folder and an exported file as text', async () => {
  const { folder, of } = await left();
  const url = await explored(folder);
  for (const path of pathsOf(of)) {
    const { tab, complaints } = await open(`${url}/ui/${path}`, modes.narrow);
    await expectHarmless(tab, path);
    if (path === 'talk') await opened(tab);
    expect([path, complaints]).toEqual([path, []]);
    await tab.close();
  }
  const file = join(temporaryFolder(), 'run.html');
  expect(await folkmoot(['explore', folder, '--export', file])).toMatchObject({ code: 0 });
  const text = readFileSync(file, 'utf8');
  expect([/[^\n -~]/.test(text), /<(?:img|!--)/.test(text)]).toEqual([false, false]);
  const { tab, complaints } = await offline(file, { view: 'talk' });
  await opened(tab);
  await expectHarmless(tab, 'talk');
  expect(complaints).toEqual([]);
});

const long = filled(markup, 10_000_000);
const fields = ['name', 'message', 'caption', 'description', 'purpose', 'reason'];

/** Replaces text fields at any depth with 10 MB of text. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    fields.includes(name) && typeof one === 'string' ? long : grown(one),
  ]);
  return Object.fromEntries(members) as object;
}

/** Changes the first entry of each kind. */
function growLog(stored: Stored): void {
  const seen = new Set<string>();
  for (const seq of [...stored.log.getKeys()] as number[]) {
    changeEntry(stored, seq, ({ kind, body }) => {
      if (seen.has(kind) || !body.startsWith('{')) return {};
      seen.add(kind);
      return { body: JSON.stringify(grown(JSON.parse(body))) };
    });
  }
}

/** Changes the first event of each type, and the first agent record. */
function growEvents({ events, records }: Stored): void {
  const seen = new Set<string>();
  const grow = (database: typeof events, key: number | string, what: string) => {
    if (seen.has(what)) return;
    seen.add(what);
    changeJson(database, key, (value) => grown(value) as Record<string, unknown>);
  };
  for (const key of [...events.getKeys()] as number[]) {
    grow(events, key, String((JSON.parse(events.get(key)!) as { type: string }).type));
  }
  const agents = records('agents');
  for (const key of [...agents.getKeys()] as string[]) grow(agents, key, 'an agent');
}

browserTest.each([
  ['the log', growLog],
  ['events and records', growEvents],
])('kept: cuts texts of 10 MB in %s, and reports the divergence', async (_, change) => {
  const { folder, of } = await left();
  const forged = await changed(folder, change);
  const url = await explored(forged);
  for (const path of [...pathsOf(of), 'explore?at=1', 'explore?at=12']) {
    const { tab, complaints } = await open(`${url}/ui/${path}`, modes.light);
    for (const summary of await tab.locator('main summary').all()) await summary.click();
    await expectHarmless(tab, path);
    expect([path, complaints]).toEqual([path, []]);
    await tab.close();
  }
  const { tab } = await open(`${url}/ui/explore?verify=1`, modes.light);
  await tab.locator('.difference').waitFor();
  await expectHarmless(tab, 'recomputed');
  const file = join(temporaryFolder(), 'run.html');
  const { code, stderr } = await folkmoot(['explore', forged, '--export', file]);
  expect([code === 0, existsSync(file), stderr.length < 4_000]).toEqual([false, false, true]);
});

browserTest('kept: opens a scenario with a title of 10 MB', async () => {
  const run = copyOf(await keptRun(join(temporaryFolder(), 'run'), '--agents', '20'));
  const path = join(run, 'scenario.json');
  writeFileSync(
    path,
    JSON.stringify(grown({ ...JSON.parse(readFileSync(path, 'utf8')), title: long })),
  );
  const url = await explored(run);
  for (const view of ['now', 'agents', 'explore']) {
    const { tab, complaints } = await open(`${url}/ui/${view}`, modes.light);
    await expectHarmless(tab, view);
    expect([view, complaints]).toEqual([view, []]);
  }
});
