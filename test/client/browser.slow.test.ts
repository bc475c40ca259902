/** The client in a browser: bundle contents, registration, proposal, vote and events. */
import { browser, browserTest, useBrowser } from '../support/browser.js';
import { bundle, origin } from './bundle.js';
import { live } from './helpers.js';

test('bundle: contains no Node, native or server code', async () => {
  const { text, inputs } = await bundle();
  for (const name of ["'node:", '"node:', '.node"', ".node'", 'sodium', 'lmdb', 'uWebSockets']) {
    expect(text.includes(name), name).toBe(false);
  }
  expect(inputs.filter((p) => /ajv|typebox|xstate|temporal|engine\/core/.test(p))).toEqual([]);
  expect(inputs).toContain('dist/engine/protocol/sha256-portable.js');
});

/** The page's script, which has access only to the bundle. */
const inPage = async (url: string) => {
  const { AgentClient, generateKeys } = (
    globalThis as unknown as { folkmoot: typeof import('folkmoot/client') }
  ).folkmoot;
  const client = new AgentClient({ url, keys: generateKeys() });
  const capabilities = ['validator', 'producer'] as const;
  const { agent_id } = await client.register({ name: 'B', personality: 'memetic', capabilities });
  const stream = client.events(['proposals', 'outcomes', 'memes']);
  await stream.opened;
  const meme = await client.postMeme({ file: 'hi', caption: 'a\nb', tags: ['x'] });
  const { block_hash } = await client.propose({ transactions: ['from a browser'] });
  const vote = await client.vote({
    ...{ block_hash, decision: 'approve', meme_references: [meme.meme_id] },
  });
  const types: string[] = [];
  for await (const { type } of stream) {
    types.push(type);
    if (types.length === 3) break;
  }
  const error = await client.block('0'.repeat(64)).catch((thrown) => thrown);
  return {
    ...{ agent_id, block_status: vote.block_status, types },
    refused: [error.name, error.reason, typeof error.request_id],
  };
};

useBrowser();

browserTest('browser: registers, posts, proposes, votes and listens', async () => {
  const { text } = await bundle();
  const from = await origin(text);
  const { url, network } = await live({ cors: [from] });
  const tab = await browser.newPage();
  await tab.goto(from);
  const result = await tab.evaluate(inPage, url);
  expect(result).toMatchObject({
    block_status: 'finalized',
    types: ['meme_posted', 'block_proposal', 'block_status'],
    refused: ['ApiError', 'UNKNOWN_BLOCK', 'string'],
  });
  expect(network.read.agent(result.agent_id)).toMatchObject({ personality: 'memetic' });
});
