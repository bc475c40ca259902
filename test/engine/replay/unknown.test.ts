/** Requests with unknown members, which the log keeps as received. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  composeProposal,
  composeRegister,
  GENESIS_HASH,
  type Signatory,
  type SignedRequest,
  targetOf,
} from 'folkmoot';
import { agentId, httpInput, sha256Hex, voteInput } from 'folkmoot/signing';
import { admit, admitLogged } from 'folkmoot/testing';
import { expect, test } from 'vitest';
import { logText, replayJson } from '../../support/command.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { bodyOf, type Line, linesOf } from '../../support/runs.js';

const now = '2025-01-01T00:00:00.000Z';

/** Builds a vote with a hand-written body: unknown members, in any order. */
function handmadeVote(by: Signatory, fields: Record<string, unknown>): SignedRequest {
  const signature = by.sign(voteInput(fields));
  const body = Buffer.from(`{ "signature": "${signature}",\n ${JSON.stringify(fields).slice(1)}\n`);
  return { kind: 'vote', public_key: by.publicKey, target: '', timestamp: '', signature: '', body };
}

const additions: Record<string, unknown>[] = [
  { mood: { grim: [1, 2.5, 'ä'] }, reason: 'why not' },
  { reason: 'a\u2028b\u2029c\u0085d' },
  { reason: '"\\\u007f\u{1f389}', note: '\u0000\n\t\r' },
];

async function networkWithVotes(path: string): Promise<void> {
  const { network, submit } = await testNetwork({ path });
  const agents = additions.map((_, index) => signatoryOf(index));
  for (const [index, by] of agents.entries()) {
    const capabilities = ['validator', 'producer'] as const;
    const fields = { name: `agent ${index}`, personality: 'lawful', capabilities };
    expect(await submit(composeRegister(by, now, fields))).toMatchObject({ result: 'accepted' });
  }
  const fields = { parent_hash: GENESIS_HASH, transactions: [] };
  await submit(composeProposal(agents[0]!, now, fields));
  const [block] = [...network.read.blocks()];
  const vote = { block_hash: block!.block_hash, decision: 'approve', timestamp: now };
  for (const [index, more] of additions.entries()) {
    const request = handmadeVote(agents[index]!, { ...vote, ...more });
    expect(await submit(request)).toMatchObject({ result: 'accepted' });
  }
  await network.close();
}

test('replay: accepts votes with unknown members, from a folder and a printed log', async () => {
  const path = join(temporaryFolder(), 'network');
  await networkWithVotes(path);
  const stored = await replayJson(path, '--signatures');
  expect(stored).toMatchObject({ match: true, entries: 8 });
  const text = await logText(path);
  const votes = linesOf(text)
    .map((line) => bodyOf<Line>(line))
    .filter(({ kind }) => kind === 'vote');
  expect(votes.map(({ body }) => bodyOf<object>(body))).toMatchObject(additions);
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, text);
  expect(await replayJson(file, '--signatures')).toEqual(stored);
});

test('replay: uses the last of equal members in a log of an early version', async () => {
  const path = join(temporaryFolder(), 'network');
  const { network, submit } = await testNetwork({ path });
  const by = signatoryOf(0);
  const fields = { name: 'Ada', personality: 'lawful', capabilities: ['validator'] } as const;
  await submit(composeRegister(by, now, fields));
  const target = targetOf('status', agentId(by.publicKey));
  const body = Buffer.from('{"status":"active","status":"maintenance"}');
  const input = httpInput({ method: 'PUT', target, timestamp: now, bodySha256: sha256Hex(body) });
  const around = { kind: 'status', public_key: by.publicKey, target, timestamp: now } as const;
  const request = { ...around, signature: by.sign(input), body };
  const { network_id } = network.genesis;
  expect(admit(request, network_id)).toMatchObject({
    refusal: { reason: 'BAD_JSON', pointer: '/status' },
  });
  const admitted = admitLogged(request, network_id);
  if ('refusal' in admitted) throw new Error(admitted.refusal.message);
  const { outcome, durable } = network.apply(network.verification.elsewhere(admitted));
  await durable;
  expect(outcome).toMatchObject({ result: 'accepted', data: { status: 'maintenance' } });
  await network.close();
  expect(await replayJson(path, '--signatures')).toMatchObject({ match: true, entries: 3 });
  const text = await logText(path);
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, text);
  expect(await replayJson(file, '--signatures')).toMatchObject({ match: true, entries: 3 });
  const again = await testNetwork({ path });
  const [agent] = [...again.network.read.agents()];
  expect(agent).toMatchObject({ status: 'maintenance' });
  await again.network.close();
});
