/**
 * The record of the known server has repeated messages, of which a load run sends none. Load tests
 * compare the rest of the record with runs.
 */
import { AgentClient, generateKeys } from 'folkmoot/client';
import { knownServer } from './known-server.js';

test('known server: counts signatures, and detects a repeated message', async () => {
  const server = await knownServer();
  const agent = new AgentClient({ url: server.url, keys: generateKeys() });
  const capabilities = ['validator', 'producer'] as const;
  await agent.register({ personality: 'lawful', name: 'Ada', capabilities });
  const { block_hash } = await agent.propose({ transactions: ['one', 'two'] });
  await agent.vote({ block_hash, decision: 'approve' });
  await agent.postMeme({ file: 'a joke', caption: 'hm', tags: ['dry'] });
  await agent.setStatus('inactive', { reason: 'tired' });
  const { finalized, signatures, keys, repeated } = await server.record();
  expect(finalized).toMatchObject([{ hash: block_hash, transactions: 2 }]);
  // The signatures are registration, proposal, two transactions, vote, meme and status.
  expect([signatures, keys, repeated]).toEqual([7, 1, []]);
  const body = JSON.stringify({ block_hash, signature: 'the same' });
  const headers = { 'X-Agent-Public-Key': agent.publicKey };
  const target = `${server.url}/api/v1/consensus/vote`;
  for (let count = 0; count < 2; count += 1) await fetch(target, { method: 'POST', headers, body });
  expect((await server.record()).repeated).toEqual(['vote']);
});
