/** Tests the checks of a finished run, and of modified copies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCertificate } from 'folkmoot/client';
import { changed, changeEntry, changeJson } from '../../engine/replay/folders.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { folkmoot } from '../../support/cli.js';
import { type Line, logLines, suiteFolder } from '../../support/runs.js';
import { open } from '../browser.js';
import { explore } from '../folder.js';

const folder = suiteFolder();
const run = join(folder, 'run');
let lines: Line[] = [];
let url = '';
let block = '';

useBrowser(async () => {
  const size = ['--agents', '60', '--blocks', '8', '--seed', '11'];
  expect((await folkmoot(['sim', ...size, '--out', run])).code).toBe(0);
  lines = await logLines(run);
  url = await explore(run, (stop) => afterAll(stop));
  const { data } = (await (await fetch(`${url}/api/v1/blocks`)).json()) as {
    data: { blocks: { block_hash: string; status: string }[] };
  };
  block = data.blocks.find(({ status }) => status === 'finalized')!.block_hash;
});
afterAll(async () => {});

browserTest('block: checks all signatures and creates a certificate', async () => {
  const { tab } = await open(`${url}/ui/block/${block}`);
  // The checks are hash, proposal, votes, transactions, recount and outcome.
  await expect.poll(() => tab.locator('.checks .verdict.holds').count()).toBeGreaterThan(4);
  expect(await tab.locator('.checks .verdict.failed').count()).toBe(0);
  await tab.getByRole('button', { name: 'Create certificate' }).click();
  const coming = tab.waitForEvent('download');
  await tab.getByRole('link', { name: /^Save block-/ }).click();
  const text = readFileSync(await (await coming).path(), 'utf8');
  expect(checkCertificate(text)).toMatchObject({ holds: true, claim: { block_hash: block } });
});

browserTest('explore: replays the log to the same digest', async () => {
  const { tab, complaints } = await open(`${url}/ui/explore`);
  await tab.getByLabel('verify signatures').check();
  await tab.getByRole('button', { name: 'Replay in this browser' }).click();
  await tab.locator('.proving.match').waitFor({ timeout: 60_000 });
  const said = await tab.locator('.proving').innerText();
  expect(said).toContain(lines.at(-1)!.digest);
  expect(said).toContain(`${lines.length.toLocaleString('en')} entries`);
  expect(complaints).toEqual([]);
});

browserTest('explore: finds a vote with a modified signature', async () => {
  const vote = lines.find(({ kind }) => kind === 'vote')!;
  const { block_hash } = JSON.parse(vote.body) as { block_hash: string };
  const forged = await changed(run, (stored) => {
    changeEntry(stored, vote.seq, ({ body }) => ({
      body: body.replace(
        /"signature":"(..)/,
        (_, two) => `"signature":"${two === '00' ? '11' : '00'}`,
      ),
    }));
  });
  const at = await explore(forged, (stop) => onTestFinished(stop));
  const { tab } = await open(`${at}/ui/block/${block_hash}`);
  await tab.locator('.checks .verdict.failed').first().waitFor();
  expect(await tab.locator('.votes tr.failed').count()).toBe(1);
  await tab.goto(`${at}/ui/explore`);
  await tab.getByRole('button', { name: 'Replay in this browser' }).click();
  await tab.locator('.difference').waitFor({ timeout: 60_000 });
  const told = await tab.locator('.difference').innerText();
  expect(told).toContain(`entry ${vote.seq.toLocaleString('en')}`);
  expect(told).toContain('log digest');
});

browserTest('explore: finds a modified event', async () => {
  const forged = await changed(run, ({ events }) => {
    const keys = [...events.getKeys()] as number[];
    const seq = keys.find((key) => events.get(key)!.includes('"type":"block_status"'))!;
    changeJson(events, seq, (event) => ({
      ...event,
      data: { ...(event.data as object), status: 'expired' },
    }));
  });
  const at = await explore(forged, (stop) => onTestFinished(stop));
  const { tab } = await open(`${at}/ui/explore?verify=1`);
  await tab.locator('.difference').waitFor({ timeout: 60_000 });
  const told = await tab.locator('.difference').innerText();
  for (const part of ['block_status, data.status', '"finalized"']) expect(told).toContain(part);
  expect(told).toContain('"expired"');
});
