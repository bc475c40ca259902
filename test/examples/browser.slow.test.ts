/** Runs the browser example: the page joins, shows a block and votes. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { agentOf, live } from '../client/helpers.js';
import { browser, browserTest, useBrowser } from '../support/browser.js';
import { root } from '../support/paths.js';

/** Serves the page and the bundle built by the command in its first lines. */
async function origin(): Promise<string> {
  const { outputFiles } = await build({
    ...{ entryPoints: ['folkmoot/client'], absWorkingDir: root, bundle: true, format: 'esm' },
    ...{ outfile: 'folkmoot-client.js', write: false, logLevel: 'silent' },
  });
  const page = readFileSync(join(root, 'examples/browser-agent.html'));
  const server = createServer(({ url }, response) => {
    const isScript = url === '/folkmoot-client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? outputFiles[0]!.contents : page);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

useBrowser();

browserTest('examples: the page joins, votes by hand and by rule', async () => {
  const from = await origin();
  const { url } = await live({ cors: [from] });
  const ada = await agentOf(url);
  const page = await browser.newPage();
  const statusOf = async (block: string) => (await ada.block(block)).status;

  const joined = async (auto: boolean) => {
    await page.goto(`${from}/`);
    await page.fill('[name=url]', url);
    await page.setChecked('[name=auto]', auto);
    await page.click('#join button');
    await page.waitForSelector('#status:has-text("Joined as agent_")');
    return page.textContent('#status');
  };
  const first = await joined(false);
  const one = await ada.propose({ transactions: ['by hand'] });
  await ada.vote({ block_hash: one.block_hash, decision: 'approve' });
  await page.click('#blocks li >> text=approve');
  await page.waitForSelector('#blocks li b:has-text("finalized")');
  expect(await statusOf(one.block_hash)).toBe('finalized');

  // The browser stores the key, so the agent is the same.
  expect(await joined(true)).toBe(first);
  const two = await ada.propose({ transactions: ['by rule'] });
  await ada.vote({ block_hash: two.block_hash, decision: 'approve' });
  await page.waitForSelector('#blocks li b:has-text("finalized")');
  expect(await statusOf(two.block_hash)).toBe('finalized');
});
