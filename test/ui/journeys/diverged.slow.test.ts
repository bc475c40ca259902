/** Tests the page of `replay --watch` on a modified folder. */
import type { Page } from 'playwright-core';
import { pageOf } from '../../cli/watch/page.js';
import { changed, changeEntry, changeJson } from '../../engine/replay/folders.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { begin } from '../../support/running-command.js';
import { type Line, logLines, suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { settled } from '../exported/file.js';
import { lostBand } from '../voters.js';
import { itemsAt, keptTown, pathsOf } from './town.js';

const folder = suiteFolder();
let run = '';
/** A vote and its event. */
let vote: Line;
let event: { seq: number; entry: number; name: string };

useBrowser(async () => {
  run = await keptTown(folder);
  const { stdout } = await folkmoot(['events', run, '--type', 'block_validation']);
  type Voted = { seq: number; data: { block_hash: string } };
  const voted = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Voted);
  const lines = await logLines(run);
  const votes = lines.filter(({ kind }) => kind === 'vote');
  // Vote events are in the order of their entries.
  const place = Math.floor(votes.length / 2);
  vote = votes[place]!;
  const { seq, data } = voted[place]!;
  expect(JSON.parse(vote.body).block_hash).toBe(data.block_hash);
  const isHers = ({ kind, public_key }: Line) =>
    kind === 'register' && public_key === vote.public_key;
  const { name } = JSON.parse(lines.find(isHers)!.body) as { name: string };
  event = { seq, entry: vote.seq, name };
});

const shown = (value: number) => value.toLocaleString('en');

/** Starts a paused replay of a folder and opens its page. */
async function watched(path: string) {
  const begun = begin(['replay', path, '--watch=paused']);
  const { url, token } = await pageOf(begun);
  const opened = await open(`${url}/ui/#token=${token}`, modes.light);
  return { begun, url, ...opened };
}

const facts = async (tab: Page): Promise<Record<string, string>> => {
  const names = await tab.locator('.difference dt').allInnerTexts();
  const values = await tab.locator('.difference dd').allInnerTexts();
  return Object.fromEntries(names.map((name, place) => [name, values[place]!]));
};

browserTest('diverged: shows the divergence of an event in every view', async () => {
  const copy = await changed(run, ({ events }) =>
    changeJson(events, event.seq, (one) => {
      const data = one.data as { decision: string };
      const decision = data.decision === 'approve' ? 'reject' : 'approve';
      return { ...one, data: { ...data, decision } };
    }),
  );
  const { begun, url, tab, complaints } = await watched(copy);
  // Every view shows the replay progress.
  await tab
    .getByTestId('replay')
    .getByText(/ 0 of [\d,]+ /)
    .waitFor();
  await tab.getByRole('heading', { name: /^Block \d+ / }).waitFor();
  await tab.getByRole('link', { name: 'Explore', exact: true }).click();
  await tab
    .locator('.proving.running')
    .getByText(/ 0 of [\d,]+ /)
    .waitFor();
  await tab.getByRole('button', { name: 'Start the replay' }).click();
  // The page shows the first divergence: entry, actor, field, expected value and stored value.
  await tab.locator('.difference').waitFor();
  await tab.getByText('Replay finished').waitFor();
  const { decision } = JSON.parse(vote.body) as { decision: string };
  expect(await facts(tab)).toEqual({
    ...{ actor: event.name, field: `event ${event.seq}, data.decision`, expected: `"${decision}"` },
    stored: decision === 'approve' ? '"reject"' : '"approve"',
  });
  const parts = tab
    .locator('.difference')
    .getByRole('link', { name: `entry ${shown(event.entry)}` });
  await parts.click();
  await tab.getByRole('heading', { name: `Entry ${shown(event.entry)} ` }).waitFor();
  await tab.locator('.happened li.here').getByText(event.name).waitFor();
  // Every other view shows the band and still works.
  const band = tab.getByTestId('divergence');
  for (const path of pathsOf(await itemsAt(url))) {
    if (path.startsWith('explore')) continue;
    const [view = '', query] = path.split('?');
    await tab.goto(`${url}/ui/${view}?at=${event.entry}${query ? `&${query}` : ''}`);
    await settled(tab);
    expect([path, await band.innerText()]).toEqual([
      path,
      expect.stringContaining(`entry ${shown(event.entry)} (vote)`),
    ]);
    expect([path, await tab.locator('main h1').count()]).toEqual([path, 1]);
    expect([path, await tab.getByRole('alert').count()]).toEqual([path, 1]);
  }
  await band.getByRole('link').click();
  await tab.getByRole('heading', { name: `Entry ${shown(event.entry)} ` }).waitFor();
  await tab.locator('.difference').getByRole('link', { name: event.name }).click();
  await tab.getByRole('heading', { level: 1, name: new RegExp(`^${event.name} `) }).waitFor();
  expect([complaints, await begun.stop('SIGINT')]).toEqual([[], { code: 12, signal: null }]);
  await lostBand(tab).waitFor();
});

browserTest('diverged: shows the divergence of an entry and its invalid vote', async () => {
  const copy = await changed(run, (stored) =>
    changeEntry(stored, vote.seq, ({ body }) => ({
      body: body.includes('"approve"')
        ? body.replace('"approve"', '"reject"')
        : body.replace('"reject"', '"approve"'),
    })),
  );
  const { begun, url, tab, complaints } = await watched(copy);
  await tab.getByRole('button', { name: 'Start the replay' }).click();
  const band = tab.getByTestId('divergence');
  // Open and close the menu, which covers the alert.
  await tab.getByText('Replay finished').click();
  await tab.getByText('Replay finished').click();
  await band.getByRole('link').click();
  await tab.locator('.difference').waitFor();
  expect(await facts(tab)).toMatchObject({
    ...{ actor: event.name, field: 'log digest', stored: vote.log_digest },
  });
  const { block_hash } = JSON.parse(vote.body) as { block_hash: string };
  await tab.goto(`${url}/ui/block/${block_hash}`);
  await tab.locator('.checks .verdict.failed').first().waitFor();
  const failed = tab.locator('.votes tr.failed');
  expect([await failed.count(), await failed.innerText()]).toEqual([
    1,
    expect.stringContaining(event.name),
  ]);
  expect([complaints, (await begun.stop('SIGINT')).code]).toEqual([[], 12]);
});
