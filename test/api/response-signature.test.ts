/** Signed answers, seen by the client that checks them. */
import { generateKeyPair } from 'folkmoot';
import { AgentClient, generateKeys } from 'folkmoot/client';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from './server.js';

async function started(serverKey?: string) {
  const keys = generateKeyPair();
  const service = await serve({ limits: 'off', server: { responseKeys: keys } });
  onTestFinished(() => service.close());
  const options = { url: service.url, keys: generateKeys() };
  const client = new AgentClient({ ...options, serverKey: serverKey ?? keys.publicKeyHex });
  return { client, service };
}

test('response signature: every kind of answer is signed by the pinned key', async () => {
  const { client } = await started();
  await client.register({
    name: 'Ada',
    personality: 'lawful',
    capabilities: ['validator', 'producer'],
  });
  const { head_hash } = await client.networkState();
  const block = await client.propose({ parent_hash: head_hash, transactions: [] });
  const voted = await client.vote({ block_hash: block.block_hash, decision: 'approve' });
  expect(voted.block_status).toBe('finalized');
  await client.postMeme({ file: Buffer.from('gm'), caption: 'hello', tags: ['gm'] });
  await expect(client.block('0'.repeat(64))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('response signature: another key is not believed', async () => {
  const { client } = await started('ab'.repeat(32));
  await expect(client.networkState()).rejects.toThrow(/signed by another key/);
});

test('response signature: none unless asked for', async () => {
  const service = await serve({ limits: 'off' });
  onTestFinished(() => service.close());
  const { headers } = await fetch(`${service.url}/api/v1/network/state`);
  expect(headers.get('x-server-signature')).toBe(null);
});
