/** Tests keys pressed in quick succession, before all data is loaded. */
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Overview, Snapshot } from '../../../dist/api/view/model.js';
import { agentOf, live } from '../../client/helpers.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { modes, newTab, open } from '../browser.js';
import { crowd } from '../crowd.js';
import { entryShown, isLive } from '../voters.js';

useBrowser();

const entryIn = (url: URL) => Number(url.searchParams.get('at') ?? Number.NaN);
/** Returns the entries that closed blocks. The next block is proposed right after. */
const endsOf = ({ blocks, entry: last }: Snapshot): number[] =>
  blocks.flatMap(({ closed_at }, place) =>
    closed_at === null ? [] : [(blocks[place + 1]?.entry ?? last + 1) - 1],
  );
async function closings(url: string): Promise<number[]> {
  const answer = await fetch(`${url}/api/v1/overview?buckets=10`);
  const { data } = (await answer.json()) as { data: Overview };
  return data.closings.map(({ entry }) => entry);
}
const reach = (tab: Page, entry: number) => tab.waitForURL((url) => entryIn(url) === entry);

browserTest('impatient: fetches rows once', async () => {
  const { url } = await live();
  const agents = [await agentOf(url, 1), await agentOf(url, 2), await agentOf(url, 3)];
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  const asked: string[] = [];
  tab.context().on('request', (request) => {
    if (request.url().includes('/columns')) asked.push(request.url());
  });
  await isLive(tab);
  for (let round = 1; round <= 3; round += 1) {
    const { block_hash } = await agents[0]!.propose({ transactions: [`one ${round}`] });
    for (const agent of agents) await agent.vote({ block_hash, decision: 'approve' });
    await tab.getByRole('heading', { name: `Block ${round} finalized` }).waitFor();
  }
  const ends = await closings(url);
  // Metrics entries follow every few seconds, so the newest block's closing is then in the past.
  await expect.poll(() => entryShown(tab)).toBeGreaterThan(ends[2]!);
  // The first page repeats rows that arrived over the socket.
  const keys = tab.keyboard;
  await keys.press('[');
  await reach(tab, ends[2]!);
  await keys.press('[');
  await reach(tab, ends[1]!);
  await keys.press(',');
  await reach(tab, ends[1]! - 1);
  await keys.press('.');
  await reach(tab, ends[1]!);
  await keys.press(']');
  await reach(tab, ends[2]!);
  // Wait for pending requests.
  await setTimeout(500);
  expect(asked.length).toBeLessThanOrEqual(3);
  expect(new Set(asked).size).toBe(asked.length);
  expect(complaints).toEqual([]);
});

browserTest('impatient: applies keys pressed before the first snapshot', async () => {
  const quiet = { agents: 40, votes: 1_500, eventsPerSecond: 0 };
  const { url, picture: snapshot, made, close } = await crowd({ ...quiet, making: true });
  onTestFinished(close);
  const tab = await newTab(modes.light);
  await tab.goto(`${url}/ui/`);
  await tab.getByRole('progressbar').waitFor();
  for (const key of ['[', '[', ',']) await tab.keyboard.press(key);
  made();
  const ends = endsOf(snapshot).filter((entry) => entry < snapshot.entry);
  await reach(tab, ends.at(-2)! - 1);
});

browserTest('impatient: applies every key in order', async () => {
  const {
    url,
    picture: snapshot,
    close,
  } = await crowd({ agents: 40, votes: 4_000, eventsPerSecond: 50 });
  onTestFinished(close);
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  // Without the overview, the player must search for closed blocks.
  await tab.context().route('**/overview*', () => undefined);
  await tab.reload();
  await tab.waitForSelector('.clock');
  const keys = tab.keyboard;
  await keys.press(' ');
  await tab.waitForURL(/at=\d+/);
  const here = entryIn(new URL(tab.url()));
  for (const key of '[[[[[,,.') await keys.press(key);
  const ends = endsOf(snapshot).filter((entry) => entry < here);
  await reach(tab, ends.at(-5)! - 1);
  for (const key of ']],') await keys.press(key);
  await reach(tab, ends.at(-4)! - 1);
  for (const key of '[,[l') await keys.press(key);
  await tab.waitForURL((url) => !url.searchParams.has('at'));
  await isLive(tab);
  expect(complaints).toEqual([]);
});
