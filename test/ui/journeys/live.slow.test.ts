/** Tests each view on a live network, with actions by agents and by the reader. */
import type { Page } from 'playwright-core';
import { watchLoad } from '../../cli/watch/load-run.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import * as signer from '../../support/service/signer.js';
import { modes, open } from '../browser.js';
import { expectWhole } from '../voters.js';
import { type Alive, alive } from './live-page.js';

useBrowser();

const heading = (tab: Page, name: RegExp | string) =>
  tab.locator('main').getByRole('heading', { name }).first().waitFor();
const says = (tab: Page, text: RegExp | string) =>
  tab.locator('main').getByText(text).first().waitFor();
const press = (tab: Page, name: RegExp | string) =>
  tab.locator('main').getByRole('button', { name }).first().click();
const pill = (tab: Page, text: RegExp) => tab.locator('.pill', { hasText: text }).waitFor();
const all = { ada: 'approve', bob: 'approve', dan: 'approve', eve: 'approve' } as const;

/** Waits for a value in a list of facts. */
const fact = (tab: Page, name: string, value: RegExp | string) =>
  tab
    .locator('main dl > div', { has: tab.locator('dt').getByText(name, { exact: true }) })
    .locator('dd')
    .getByText(value, { exact: true })
    .waitFor();

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E' +
    'rkJggg==',
  'base64',
);

const journeys: Record<string, (here: Alive) => Promise<void>> = {
  async now({ tab, propose, vote }) {
    await says(tab, '5 agents are');
    const first = await propose('one', 'two');
    await heading(tab, 'Block 1 in voting');
    await says(tab, /4 more votes to finalize.\s*2 transactions, proposed by ada/);
    await vote(first, { cy: 'reject', ada: 'approve' });
    await says(tab, /1\s*approve\s*1\s*reject, 3 of 5 pending. Needs 3 more votes/);
    await says(tab, 'cy says reject');
    // A pause affects this page only.
    await tab.keyboard.press(' ');
    await pill(tab, /^paused$/);
    await vote(first, { bob: 'approve', dan: 'approve' });
    await pill(tab, /^paused, 2 entries behind live$/);
    await says(tab, /1\s*approve\s*1\s*reject, 3 of 5 pending/);
    await tab.keyboard.press('l');
    await says(tab, /3\s*approve\s*1\s*reject, 1 of 5 pending. Needs 1 more vote to/);
    await vote(first, { eve: 'approve' });
    await heading(tab, 'Block 1 finalized');
    await propose();
    await heading(tab, 'Block 2 in voting');
    await press(tab, /^Block 1, /);
    await heading(tab, 'Block 1 finalized');
    await press(tab, 'Show block 2');
    await heading(tab, 'Block 2 in voting');
  },

  async agents({ tab, by, join, propose, vote }) {
    await heading(tab, '5 agents');
    await tab.getByRole('combobox').or(tab.getByPlaceholder('Find an agent')).first().fill('bob');
    await tab.keyboard.press('Enter');
    const card = tab.getByLabel('Selected agent');
    await card.getByRole('heading', { name: 'bob' }).waitFor();
    await fact(tab, 'votes', '0');
    const first = await propose();
    await heading(tab, /^5 agents, votes on block 1/);
    await vote(first, { bob: 'reject' });
    await fact(tab, 'this block', 'rejects');
    await fact(tab, 'votes', '1');
    await by.bob.setStatus('maintenance', { reason: 'rests' });
    await fact(tab, 'status', 'maintenance');
    await join('fay');
    await heading(tab, /^6 agents/);
    await press(tab, /^Table$/);
    const row = (name: string) => tab.locator('tbody tr', { hasText: name });
    await row('fay').getByText('has not voted').waitFor();
    await vote(first, { cy: 'reject' });
    await row('cy').getByText('rejects', { exact: true }).waitFor();
  },

  async opinion({ tab, propose, vote }) {
    await heading(tab, 'Not enough votes yet');
    for (const _ of [1, 2, 3]) await vote(await propose(), { cy: 'reject', ...all });
    await heading(tab, /^Voting similarity, blocks 1 to 3/);
    await press(tab, 'Opinion map as a table');
    const places = () =>
      tab
        .locator('main tbody tr')
        .evaluateAll((rows) => rows.map((row) => [...row.children].map((one) => one.textContent)));
    // Agents that vote alike are at equal positions, and cy is far away.
    const stand = async () => {
      const [far, ...others] = await places();
      return [far?.[0], new Set(others.map(([, , x, y]) => `${x} ${y}`)).size];
    };
    await expect.poll(stand).toEqual(['cy', 1]);
    const fourth = await propose();
    // There are three kinds of voters in addition to cy: no vote, approve, reject.
    await vote(fourth, { ada: 'approve', dan: 'reject', eve: 'reject' });
    await heading(tab, /blocks 1 to 4/);
    await expect
      .poll(async () => new Set((await places()).map(([, , x, y]) => `${x} ${y}`)).size)
      .toBe(4);
  },

  async alliances({ tab, by, propose, vote }) {
    await heading(tab, 'No alliances yet');
    const target_ids = [by.bob.agentId, by.cy.agentId];
    const { alliance_id } = await by.ada.proposeAlliance({ target_ids, purpose: 'to agree' });
    await heading(tab, '0 active alliances, 1 proposed or ended');
    await by.bob.respondAlliance(alliance_id, true);
    await heading(tab, '1 active alliance');
    await press(tab, /^ada to agree/);
    await tab
      .locator('.lane-open')
      .getByText(/ada, bob; 1 invited$/)
      .waitFor();
    await vote(await propose(), all);
    await tab.locator('.lane').getByText('100 %').waitFor();
    await by.cy.respondAlliance(alliance_id, true);
    await tab
      .locator('.lane-open')
      .getByText(/ada, bob, cy$/)
      .waitFor();
    for (const one of [by.bob, by.cy]) await one.leaveAlliance(alliance_id);
    await heading(tab, '0 active alliances, 1 proposed or ended');
    await tab.locator('.lane-bar.over').waitFor();
  },

  async talk({ tab, by, propose, vote }) {
    await heading(tab, 'No messages yet');
    const first = await propose();
    await by.dan.discuss({ block_hash: first, message: 'Looks sound.', sentiment: 'positive' });
    const lines = tab.locator('.talk-lines li');
    await lines.getByText('Looks sound.').waitFor();
    await vote(first, { cy: 'reject' });
    await lines.getByText('cy says reject').waitFor();
    await press(tab, /^reasons$/);
    await lines.getByText('Looks sound.').waitFor({ state: 'hidden' });
    await by.eve.postMeme({ file: PIXEL, caption: 'a dot', tags: ['b'] });
    const meme = tab.locator('.memes li', { hasText: 'a dot' });
    await meme.getByRole('button').click();
    await meme.locator('canvas').waitFor();
    // An open meme stays open when a new message arrives.
    await vote(first, { bob: 'approve' });
    await lines.getByText('bob says approve').waitFor();
    expect(await meme.locator('canvas').count()).toBe(1);
  },

  async agent({ url, tab, by, propose, vote }) {
    await heading(tab, 'No agent selected');
    await tab.goto(`${url}/ui/agent/${by.bob.agentId}`);
    await heading(tab, /^bob rational, active/);
    await says(tab, 'bob counts');
    await says(tab, 'No votes yet.');
    const first = await propose();
    await vote(first, { bob: 'approve' });
    await tab.getByRole('link', { name: 'Block 1, voting: approve' }).waitFor();
    await fact(tab, 'votes', '1');
    const before = await tab.locator('.scores .number').allInnerTexts();
    expect(before.length).toBe(5);
    await vote(first, { ada: 'approve', dan: 'approve', eve: 'approve' });
    await tab.getByRole('link', { name: 'Block 1, finalized: approve' }).waitFor();
    await expect.poll(() => tab.locator('.scores .number').allInnerTexts()).not.toEqual(before);
    await by.bob.postMeme({ file: 'A text', caption: 'of bob', tags: ['b'] });
    await fact(tab, 'memes', '1');
    await says(tab, 'of bob');
    await by.bob.setStatus('inactive', { reason: 'sleeps' });
    await heading(tab, /^bob rational, inactive/);
    await tab.getByRole('link', { name: 'Block 1, finalized: approve' }).click();
    await heading(tab, 'Block 1 finalized');
  },

  async block({ tab, propose, vote }) {
    await heading(tab, 'No blocks yet');
    const first = await propose('one');
    await heading(tab, 'Block 1 in voting');
    const valid = (count: number) =>
      expect.poll(() => tab.locator('.checks .verdict.holds').count()).toBe(count);
    // The five checks are hash, proposal, votes, transaction and recount.
    await valid(5);
    // The page checks each vote on arrival.
    await vote(first, { cy: 'reject' });
    await says(tab, '1 vote signature valid.');
    await vote(first, { bob: 'approve', dan: 'approve', eve: 'approve' });
    await says(tab, 'All 4 vote signatures valid.');
    await says(tab, /3 approve and 1 reject/);
    await press(tab, /^reject$/);
    expect(await tab.locator('.votes tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^cy\s+reject\s+.*valid.*\s+cy says reject/),
    ]);
    await press(tab, /^all$/);
    await vote(first, { ada: 'approve' });
    await heading(tab, 'Block 1 finalized');
    await valid(6);
    await press(tab, 'Create certificate');
    await tab.getByRole('link', { name: /^Save block-/ }).waitFor();
    await propose();
    await heading(tab, 'Block 2 in voting');
    await tab.getByRole('link', { name: '← Block 1' }).click();
    await heading(tab, 'Block 1 finalized');
  },

  async explore({ tab, propose, vote }) {
    const here = tab.locator('.happened li.here');
    const first = await propose();
    await here.getByText('ada').waitFor();
    await vote(first, { cy: 'reject' });
    await here.getByText('cy').waitFor();
    await says(tab, 'Vote by');
    await tab.getByText('Signed request').click();
    await says(tab, '"reason": "cy says reject"');
    const row = tab.locator('.happened li', { hasText: 'proposed' }).getByRole('link').first();
    await row.click();
    await pill(tab, /^paused, 1 entry behind live$/);
    await says(tab, 'Proposal by');
    await tab.keyboard.press('l');
    await vote(first, { bob: 'approve' });
    await here.getByText('bob').waitFor();
    await press(tab, 'Replay in this browser');
    await tab.locator('.proving.match').waitFor();
    await vote(first, { dan: 'approve' });
    await here.getByText('dan').waitFor();
  },

  async doctor({ url, tab, propose }) {
    const first = await propose();
    const eve = signer.agentOf('a seventh');
    const pasted = ({ method, path, headers, body }: signer.Request) =>
      [
        `${method} ${path} HTTP/1.1`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        body,
      ].join('\n');
    const ask = async (request: signer.Request) => {
      await tab.getByRole('textbox').fill(pasted(request));
      await press(tab, 'Check request');
    };
    const send = async ({ method, path, headers, body }: signer.Request) =>
      (await fetch(`${url}${path}`, { method, headers, body: String(body) })).status;
    expect(await send(signer.register(eve, { name: 'gil' }))).toBe(201);
    const right = signer.vote(eve, { block_hash: first, decision: 'approve' });
    const wrong = { ...right, body: String(right.body).replace('"approve"', '"reject"') };
    expect(await send(wrong)).toBe(401);
    await ask(wrong);
    await says(tab, 'MISMATCH');
    await heading(tab, /^Signing input/);
    await says(tab, '"decision":"reject"');
    await ask(right);
    await heading(tab, 'Valid signature');
  },
};

browserTest.each(Object.entries(journeys))(
  'live: %s follows the network',
  async (view, journey) => {
    const here = await alive(view);
    await journey(here);
    // The totals are complete after each journey.
    await here.tab.keyboard.press('l');
    await expectWhole(here.tab, here.url);
    expect(here.complaints).toEqual([]);
  },
);

browserTest('live: follows a load run and the network under load', async () => {
  const { url } = await alive('now');
  const votes = ['--workload', 'votes', '--rate', '20', '--warmup', '1s', '--duration', '5s'];
  const run = await watchLoad(['--url', url, ...votes, '--json', '--watch=paused']);
  const { tab, complaints } = await open(run.page, modes.light);
  await press(tab, 'Start');
  await says(tab, /^Measuring: /);
  const { tab: network } = await open(`${url}/ui/now`, modes.light);
  await heading(network, /^Block \d+ /);
  await says(tab, /^Measured for /);
  await run.ended;
  await tab.getByRole('img', { name: /^Arrivals over time/ }).waitFor();
  await expectWhole(network, url);
  expect(complaints).toEqual([]);
});
