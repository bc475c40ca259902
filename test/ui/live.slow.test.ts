/** Tests a real server's page on both transports. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, live } from '../client/helpers.js';
import { executablePath, hasBrowser, launch } from '../support/browser.js';
import { modes, open } from './browser.js';
import { lostBand } from './voters.js';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

test.skipIf(!hasBrowser).each(['uws', 'node'] as const)(
  `live: shows a block from proposal to finality, %s (needs ${executablePath})`,
  async (transport) => {
    const { url, network } = await live({ transport });
    const { tab, complaints } = await open(browser, `${url}/`, modes.light);
    expect(new URL(tab.url()).pathname).toBe('/ui/');
    await tab.getByText('No agents yet').waitFor();

    const [ada, bob, eve] = [await agentOf(url, 1), await agentOf(url, 2), await agentOf(url, 3)];
    await tab.getByText('No blocks yet').waitFor();
    await tab.getByText('3 agents are').waitFor();
    const { block_hash } = await ada.propose({ transactions: ['one', 'two'] });
    await tab.getByRole('heading', { name: 'Block 1 in voting' }).waitFor();
    await bob.vote({ block_hash, decision: 'approve' });
    await tab.getByText('1 approve').waitFor();
    const before = network.read.position.seq;
    await eve.vote({ block_hash, decision: 'approve' });
    await ada.vote({ block_hash, decision: 'approve' });
    await tab.getByRole('heading', { name: 'Block 1 finalized' }).waitFor();
    const counts = await tab.locator('.counts').innerText();
    expect(counts).toMatch(/^\s*3 approve\s+0 reject, 0 of 3 did not vote\./);
    expect(counts).toContain('2 transactions, proposed by agent 1');

    // Follow a link to a past entry, then return to live.
    await tab.goto(`${url}/ui/now?at=${before}`);
    await tab.getByRole('heading', { name: 'Block 1 in voting' }).waitFor();
    await tab.getByText('1 approve').waitFor();
    await tab.getByText(/^paused, \d+ entr(y|ies) behind live/).waitFor();
    await tab.keyboard.press('l');
    await tab.getByRole('heading', { name: 'Block 1 finalized' }).waitFor();

    await tab.getByRole('link', { name: 'Agents' }).click();
    await tab.getByRole('button', { name: 'Table' }).click();
    const rows = await tab.locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split(/\s*\t\s*/).slice(0, 3))).toEqual(
      [1, 2, 3].map((number) => [`agent ${number}`, 'rational', 'approves']),
    );
    expect(complaints).toEqual([]);
  },
);

test.skipIf(!hasBrowser)(
  `live: an open page does not keep the server from stopping (needs ${executablePath})`,
  async () => {
    const { url, stop } = await live();
    const { tab } = await open(browser, `${url}/ui/`, modes.light);
    await stop();
    await lostBand(tab).waitFor();
  },
);
