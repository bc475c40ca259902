/// <reference lib="dom" />
/** Tests the block and agent views with `?at=` against historical reads by the engine. */
import { join } from 'node:path';
import { History, type Moment } from 'folkmoot';
import type { Page } from 'playwright-core';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { counts } from '../../support/counts.js';
import { suiteFolder } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { world } from '../../support/service/server.js';
import { open } from '../browser.js';
import { explore } from '../folder.js';

const run = join(suiteFolder(), 'run');
let url = '';
let history: History;

useBrowser(async () => {
  const size = ['--agents', '40', '--blocks', '8', '--seed', '12'];
  expect((await folkmoot(['sim', ...size, '--out', run])).code).toBe(0);
  history = History.open({ path: join(run, 'network'), checkpoints: false });
  url = await explore(run, (stop) => afterAll(stop));
});
afterAll(async () => {
  await history?.close();
});

const shown = (value: number) => value.toLocaleString('en');

async function looksLike(tab: Page, hash: string, { read, position }: Moment, end: Moment) {
  const now = end.read.block(hash)!;
  const then = read.block(hash);
  if (!then) {
    await tab.getByRole('heading', { name: `No block ${now.height} yet` }).waitFor();
    const { entry } = end.read.record('blocks', hash)!.context;
    expect(entry).toBeGreaterThan(position.seq);
    const link = tab.getByRole('link', { name: `entry ${shown(entry)}` });
    const to = new URL((await link.getAttribute('href'))!, url);
    expect([to.pathname, to.searchParams.get('at')]).toEqual([`/ui/block/${hash}`, `${entry}`]);
    return;
  }
  const { approve, reject, electorate } = then.tally;
  const weight = `${shown(approve)} approve, ${shown(reject)} reject, of ${shown(electorate)}`;
  await tab.locator('.block-view .facts').getByText(weight, { exact: true }).waitFor();
  const { ordinal } = read.record('blocks', hash)!.context;
  const votes = [...read.records('votes', { from: [ordinal], to: [ordinal + 1] })].length;
  const said = `${shown(votes)} ${votes === 1 ? 'vote' : 'votes'}`;
  await tab.getByRole('heading', { name: said, exact: true }).waitFor();
  const recount = `${shown(approve)} approve and ${shown(reject)} reject`;
  await tab.locator('.checks li', { hasText: recount }).locator('.verdict.holds').waitFor();
  const outcome = await tab.locator('.outcome').innerText();
  expect(outcome).toMatch(then.status === 'voting' ? /^in voting$/ : new RegExp(then.status));
  const decided = then.status === 'finalized' || then.status === 'rejected';
  expect(await tab.getByRole('heading', { name: 'Certificate' }).count()).toBe(decided ? 1 : 0);
  const later = tab.getByTestId('newest-status').getByRole('link', { name: now.status });
  expect(await later.count()).toBe(then.status === now.status ? 0 : 1);
}

async function standsAs(tab: Page, id: string, { read, position }: Moment) {
  const then = read.agent(id);
  if (!then) {
    await tab.getByRole('heading', { name: 'Agent not found' }).waitFor();
    return;
  }
  const scored = new RegExp(`at entry ${shown(position.seq)}$`);
  await tab.locator('[aria-label=Reputation] header', { hasText: scored }).waitFor();
  const scores = await tab.locator('.scores td.number').allInnerTexts();
  const expected = Object.values(read.reputation(id)!).map((one) => Math.round(10 * one) / 10);
  expect(scores.map(Number)).toEqual(expected);
  const facts = await tab.locator('.agent-view .facts').innerText();
  expect(facts).toContain(`blocks produced\n${shown(then.blocks_produced)}`);
  expect(await tab.getByRole('heading', { level: 1 }).innerText()).toContain(then.status);
}

browserTest('past: shows blocks and agents as of random entries', async () => {
  const draw = drawnFrom(seed);
  const end = await history.at(history.end.seq);
  const blocks = [...end.read.blocks()];
  const agents = [...end.read.agents()];
  const first = end.read.record('blocks', blocks.at(-1)!.block_hash)!.context.entry;
  for (let round = 0; round < counts.pictures; round += 1) {
    const entry = draw(round % 2 === 0 ? end.position.seq : first + 20);
    const moment = await history.at(entry);
    // Prefer a block that is close to its decision.
    const near = blocks.find(({ block_hash }) => read(end, block_hash).entry <= entry);
    const { block_hash } = round % 3 === 0 && near ? near : blocks[draw(blocks.length)]!;
    const { id } = agents[draw(agents.length)]!;
    const { tab } = await open(`${url}/ui/block/${block_hash}?at=${entry}`);
    await looksLike(tab, block_hash, moment, end);
    await tab.goto(`${url}/ui/agent/${id}?at=${entry}`);
    await standsAs(tab, id, moment);
    await tab.close();
  }
});

const read = (moment: Moment, hash: string) => moment.read.record('blocks', hash)!.context;

browserTest('past: steps a block from its proposal to its end', async () => {
  const end = await history.at(history.end.seq);
  const [last] = [...end.read.blocks()];
  const hash = last!.block_hash;
  const { entry } = read(end, hash);
  const { tab, complaints } = await open(`${url}/ui/block/${hash}?at=${entry - 1}`);
  await looksLike(tab, hash, await history.at(entry - 1), end);
  await tab.getByRole('link', { name: `entry ${shown(entry)}` }).click();
  await looksLike(tab, hash, await history.at(entry), end);
  for (let step = 1; step <= 3; step += 1) {
    await tab.getByRole('slider', { name: 'Position in the history' }).press('ArrowRight');
    await looksLike(tab, hash, await history.at(entry + step), end);
  }
  await tab.getByTestId('newest-status').getByRole('link').click();
  await looksLike(tab, hash, end, end);
  expect(complaints).toEqual([]);
});

browserTest('past: waits for a server that still builds the view', async () => {
  const moment = await history.at(200);
  const [{ id } = { id: '' }] = [...moment.read.agents()];
  const { tab } = await open(`${url}/ui/agent/${id}`);
  const refused = new Map<string, number>();
  const message = 'a message with the progress';
  const error = { code: 'NETWORK_ERROR', message, details: { reason: 'BEING_MADE' } };
  await tab.route(/\/api\/v1\/.*[?&]at=/, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const times = (refused.get(path) ?? 0) + 1;
    refused.set(path, times);
    if (times > 3) return route.continue();
    const body = JSON.stringify({ success: false, error });
    await route.fulfill({ status: 503, contentType: 'application/json', body });
  });
  await tab.goto(`${url}/ui/agent/${id}?at=200`);
  const notice = tab.getByTestId('notice');
  await notice.getByText(message).waitFor();
  await tab.locator('[aria-label=Reputation] [role=status]', { hasText: message }).waitFor();
  await standsAs(tab, id, moment);
  expect([await tab.getByRole('alert').count(), await notice.count()]).toEqual([0, 0]);
  // The requests for entry, agent, scores and neighbours were each retried until successful.
  expect([...refused.values()].map((times) => times > 3)).toEqual([true, true, true, true]);
});

browserTest('past: shows only the overall score at an entry of a live server', async () => {
  const there = await world();
  const [ada] = await there.joinAll('ada', 'bob', 'cy');
  await there.vote(ada!, await there.propose(ada!), { decision: 'reject' });
  const { tab } = await open(`${there.url}/ui/agent/${ada!.agentId}`);
  await expect.poll(() => tab.locator('.scores tr').count()).toBe(5);
  await tab.goto(`${there.url}/ui/agent/${ada!.agentId}?at=3`);
  await tab.locator('[aria-label=Reputation] .faint').waitFor();
  expect(await tab.locator('.scores tbody').innerText()).toMatch(/^overall\s+50$/);
  onTestFinished(() => tab.close());
});
