/** Requests with unknown members, which the log keeps as received. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  composeProposal,
  composeRegister,
  GENESIS_HASH,
  type Signatory,
  type SignedRequest,
} from 'folkmoot';
import { voteInput } from 'folkmoot/signing';
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
