/** Tests open pages when their folder or server changes, disappears or restarts. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { browserTest, useBrowser } from '../../support/browser.js';
import { freePort, temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { suiteFolder } from '../../support/runs.js';
import { modes, open } from '../browser.js';
import { copyOf, explored, keptRun } from '../folder.js';
import { connection, expectWhole, isFinished, isLive, lostBand, own, voters } from '../voters.js';

const run = join(suiteFolder(), 'run');
useBrowser(async () => {
  await keptRun(run, '--agents', '40', '--blocks', '4', '--seed', '5');
});

browserTest.each([
  ['deleted', (path: string) => rmSync(path, { recursive: true })],
  [
    'replaced',
    (path: string) => {
      const other = copyOf(run);
      renameSync(path, `${path}-before`);
      renameSync(other, path);
    },
  ],
])('folders: reports a folder that is %s while the page is open', async (_, change) => {
  const path = copyOf(run);
  const url = await explored(path);
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  await isFinished(tab);
  change(path);
  await tab.getByTestId('folder-lost').waitFor();
  await tab.keyboard.press('[');
  await tab.getByText(/^paused, /).waitFor();
  await tab.getByRole('link', { name: 'Block', exact: true }).click();
  await tab.locator('.checks .verdict.holds').first().waitFor();
  expect(complaints).toEqual([]);
  // A new page also reports the loss.
  const { tab: later } = await open(`${url}/ui/agents`, modes.light);
  await later.getByTestId('folder-lost').waitFor();
  await later.getByRole('heading', { name: '40 agents' }).waitFor();
});

browserTest('folders: follows a growing folder', async () => {
  const folder = join(temporaryFolder(), 'data');
  const server = begin(['serve', '--port', '0', '--data', folder, '--limits', 'bench']);
  const [, at] = await server.printed(/"url":"([^"]+)"/);
  const url = await explored(folder);
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  await isFinished(tab);
  const vote = await voters(at!);
  await isLive(tab);
  await vote(2);
  await tab.getByRole('heading', { name: 'Block 2 finalized' }).waitFor();
  await expectWhole(tab, at!);
  expect(complaints).toEqual([]);
});

browserTest('folders: reconnects to a server that was killed', async () => {
  const folder = join(temporaryFolder(), 'data');
  const port = String(await freePort());
  const args = ['serve', '--port', port, '--data', folder, '--limits', 'bench'];
  const first = begin(args);
  const [, url = ''] = await first.printed(/"url":"([^"]+)"/);
  const vote = await voters(url);
  await vote(2);
  const { tab, complaints } = await open(`${url}/ui/`, modes.light);
  await isLive(tab);
  await first.stop('SIGKILL');
  await lostBand(tab).waitFor();
  await connection(tab).getByText('disconnected').waitFor();
  // The newest block's closing may be cached. The preceding block's closing is not cached, so the
  // request fails.
  await tab.keyboard.press('[');
  await tab.keyboard.press('[');
  await tab.getByTestId('notice').waitFor();
  await begin(args).printed(/"url":"([^"]+)"/);
  await lostBand(tab).waitFor({ state: 'hidden' });
  await tab.getByText(/^paused, /).waitFor();
  await tab.keyboard.press('l');
  await isLive(tab);
  await vote(2);
  await tab.getByRole('heading', { name: 'Block 4 finalized' }).waitFor();
  await expectWhole(tab, url);
  expect(complaints.filter(own)).toEqual([]);
});
