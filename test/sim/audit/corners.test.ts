/** Audit of rules that random lives do not reach. */
import { composeDiscuss, composeMeme, composeRegister, composeVote, limits } from 'folkmoot';
import { admit } from 'folkmoot/testing';
import { refuse } from '../../../dist/engine/protocol/schema/reason.js';
import { word } from '../../engine/helpers.js';
import { auditedTown } from './town.js';

const both = ['validator', 'producer'] as const;

test('audit: covers a transaction with an invalid signature', async () => {
  const { town, finish } = await auditedTown({ verifier: 'inline' });
  const ada = await town.join(both);
  const forged = { ...town.transaction(ada, 'tx', true), signature: '0'.repeat(128) };
  expect(word(await town.propose(ada, { transactions: [forged] }))).toBe('MISMATCH');
  await finish();
});

test('audit: covers more meme bytes than an agent may post', async () => {
  const { town, finish } = await auditedTown();
  const ada = await town.join(both);
  const file = new TextEncoder().encode('m'.repeat(limits.memeFileBytes));
  const post = () => town.submit(composeMeme(ada, town.stamp(), { caption: '', tags: [], file }));
  const many = limits.memeQuotaBytes / limits.memeFileBytes;
  for (let index = 0; index < many; index += 1) expect(word(await post())).toBe('accepted');
  expect(word(await post())).toBe('QUOTA');
  await finish();
});

test('audit: a request is a repeat for exactly 600 s', async () => {
  const genesis = { voting_period_ms: 86_400_000 };
  const { town, wait, pass, finish } = await auditedTown({ genesis });
  const ada = await town.join(both);
  const fields = { block_hash: await town.open(ada), message: 'hm', sentiment: 'neutral' as const };
  const request = composeDiscuss(ada, town.stamp(), fields);
  expect(word(await town.submit(request))).toBe('accepted');
  wait(600_000);
  pass();
  expect(word(await town.submit(request))).toBe('duplicate');
  wait(1);
  expect(word(await town.submit(request))).toBe('accepted');
  await finish();
});

test('audit: counts a vote at the deadline, but not one a millisecond later', async () => {
  for (const late of [0, 1]) {
    const { town, wait, finish } = await auditedTown();
    const [ada] = await town.joinMany(3, both);
    const hash = await town.open(ada!);
    wait(30_000 + late);
    expect(word(await town.vote(ada!, hash))).toBe(late === 0 ? 'accepted' : 'VOTING_CLOSED');
    await finish();
  }
});

test('audit: predicts the refusal of an unknown key', async () => {
  const { town, auditor } = await auditedTown();
  const block_hash = await town.open(await town.join(both));
  const request = composeVote(town.key(), town.stamp(), { block_hash, decision: 'approve' });
  const admitted = admit(request, town.network.genesis.network_id);
  if ('refusal' in admitted) throw new Error(admitted.refusal.message);
  const outcome = town.network.precheck(admitted);
  expect(outcome && word(outcome)).toBe('UNKNOWN_KEY');
  const at = Date.parse(town.network.read.networkState().server_time);
  expect(auditor.precheck({ at, command: admitted.command, outcome })).toBeNull();
  expect(auditor.precheck({ at, command: admitted.command, outcome: null })).toMatchObject({
    rule: 'outcome',
    found: 'no refusal',
  });
});

test('audit: accepts refusals of a network that cannot execute commands', async () => {
  const { town, auditor, puts } = await auditedTown();
  const ada = await town.join(both);
  const refusal = refuse('COMMIT_QUEUE_FULL', { backlog: 1 });
  const { at, command } = puts[0]!;
  const put = { at, command, outcome: { result: 'refused', refusal } as const, events: [] };
  expect(auditor.observe(put)).toBeNull();
  const fields = { personality: 'neutral', name: 'someone', capabilities: both };
  expect(word(await town.submit(composeRegister(ada, town.stamp(), fields)))).toBe('duplicate');
});
