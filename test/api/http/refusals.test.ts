/** A new client's ten most common mistakes. Each message names the value and the fix. */
import { expect, test } from 'vitest';
import { type RefusalKey, refusalMessages } from '../../../dist/engine/protocol/refusals.js';
import { oneTransport, world } from '../../support/service/server.js';
import { agentOf, propose, register, sha256, status, vote } from '../../support/service/signer.js';
import type { Answer, World } from '../../support/service/world.js';

/** Checks the reason, and that the message contains all values and the row's fix. */
function expectRefusal(answer: Answer, key: RefusalKey, values: readonly (string | number)[]) {
  const { reason, fix } = refusalMessages[key] as { reason: string; fix: string };
  expect(answer.error?.details.reason, answer.text).toBe(reason);
  const { message } = answer.error;
  for (const value of values) expect(message).toContain(String(value));
  for (const part of fix.split(/\{\w+\}/)) expect(message).toContain(part);
  expect(message).not.toMatch(/[{}]|undefined/);
}

/** Returns a finalized block, and an elector who has not voted on it. */
async function closedBlock(there: World) {
  const agents = await there.joinAll('ada', 'bob', 'cy', 'dan', 'eve');
  const block_hash = await there.propose(agents[0]!);
  for (const [index, agent] of agents.entries()) {
    const { block_status } = await there.vote(agent, block_hash);
    if (block_status !== 'voting') return { block_hash, late: agents[index + 1]! };
  }
  throw new Error(`block ${block_hash} is still open`);
}

test.each(
  oneTransport,
)('refusals over %s: of credentials name the values and the fix', async (transport) => {
  const there = await world({ transport });
  const ada = await there.join('Ada');

  const timestamp = '2020-01-01T00:00:00.000Z';
  const stale = await there.send(status(ada, { status: 'active' }, ada.agentId, timestamp));
  const serverTime = String(stale.error.details.server_time).slice(0, 16);
  expectRefusal(stale, 'TIMESTAMP_OUT_OF_RANGE', [timestamp, serverTime, 300_000]);

  const forged = { ...ada, sign: () => ada.sign('other bytes') };
  const mismatch = await there.send(status(forged, { status: 'active' }));
  const signature = ada.sign('other bytes').slice(0, 16);
  const { expected_input_sha256 } = mismatch.error.details;
  expectRefusal(mismatch, 'SIGNATURE_MISMATCH', [signature, String(expected_input_sha256)]);

  const known = { ...ada, sign: (text: string) => ada.sign(sha256(text)) };
  const mistake = await there.send(status(known, { status: 'active' }));
  expectRefusal(mistake, 'SIGNATURE_MISTAKE', [ada.publicKey, 'sign the text itself']);

  const stranger = agentOf('stranger');
  const unknown = await there.send(vote(stranger, { block_hash: 'a'.repeat(64) }));
  expectRefusal(unknown, 'KEY_UNKNOWN', [stranger.publicKey]);
});

test.each(
  oneTransport,
)('refusals over %s: of malformed requests name the values and the fix', async (transport) => {
  const there = await world({ transport });
  const ada = await there.join('Ada');

  const typed = await there.send(register(agentOf('Bob'), { name: 12_345 }));
  expectRefusal(typed, 'MEMBER_INVALID', ['/name', 12_345, 'string']);

  const request = status(ada, { status: 'active' });
  const headers = { ...request.headers, 'Content-Type': 'text/plain' };
  const wrong = await there.send({ ...request, headers });
  expectRefusal(wrong, 'CONTENT_TYPE_WRONG', ['text/plain', 'application/json']);

  const large = status(ada, { status: 'active', reason: 'x'.repeat(70_000) });
  const refused = await there.send(large);
  expectRefusal(refused, 'BODY_TOO_LARGE', [large.body.length, 8_192]);
});

test.each(
  oneTransport,
)('refusals over %s: by a rate limit name the quota and the wait', async (transport) => {
  const there = await world({ transport, limits: 'spec' });
  await there.join('Ada');
  const second = await there.send(register(agentOf('Bob')));
  const { retry_after_s } = second.error.details;
  expectRefusal(second, 'RATE_LIMIT', ['register', '1 per minute', String(retry_after_s)]);
});

test.each(
  oneTransport,
)('refusals over %s: of proposals and votes name the block and the conflict', async (transport) => {
  const there = await world({ transport });
  const { block_hash, late } = await closedBlock(there);
  const closed = await there.send(vote(late, { block_hash }));
  expectRefusal(closed, 'BLOCK_CLOSED', [block_hash, 'finalized']);

  const parent_hash = 'a'.repeat(64);
  const stale = await there.send(propose(late, { parent_hash }));
  expectRefusal(stale, 'PARENT_WRONG', [parent_hash, block_hash]);

  const open = await there.propose(late);
  await there.vote(late, open);
  const conflict = await there.send(vote(late, { block_hash: open, decision: 'reject' }));
  expectRefusal(conflict, 'VOTE_CONFLICT', ['reject', 'approve', late.agentId, open]);
});
