/** Votes of simulated agents have the bytes of composed votes, however they are signed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { generateKeyPair, KeySignatory, verifyFastest } from '../../../dist/engine/crypto/keys.js';
import { AheadSigner } from '../../../dist/engine/crypto/signer.js';
import { composeVote, signingInput } from '../../../dist/engine/protocol/compose.js';
import { formatInstant } from '../../../dist/engine/protocol/schema/primitives.js';
import { DirectVote } from '../../../dist/sim/world/direct-vote.js';
import { fc, forAll } from '../../support/property.js';

/** Counts the signatures of this thread. */
class CountingSignatory extends KeySignatory {
  signed = 0;

  override sign(input: string): string {
    this.signed += 1;
    return super.sign(input);
  }
}

const by = new CountingSignatory(generateKeyPair());
const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const fields = fc.record({
  block_hash: hex(64),
  decision: fc.constantFrom('approve' as const, 'reject' as const),
  reason: fc.oneof(fc.string({ maxLength: 80 }), fc.constant(''), fc.constant('says "no"')),
  meme_references: fc.array(
    hex(32).map((id) => `meme_${id}`),
    { maxLength: 3 },
  ),
});
const instant = fc.integer({ min: 0, max: 4_102_444_800_000 });
const signers: AheadSigner[] = [];

afterEach(async () => {
  await Promise.all(signers.splice(0).map((signer) => signer.close()));
});

test('direct vote: has the bytes and the signature of a composed vote', () => {
  let direct = 0;
  forAll([fields, instant], (vote, at) => {
    const made = DirectVote.create(by, vote, at);
    if (!made) return;
    direct += 1;
    expect(Buffer.compare(made.body, composeVote(by, formatInstant(at), vote).body)).toBe(0);
    expect(made.bytes).toBe(made.body.length + by.publicKey.length);
    expect(Buffer.from(made.ownJob().message).toString()).toBe(signingInput(made, made.raw));
    expect(verifyFastest(made.ownJob())).toBe(true);
  });
  expect(direct).toBeGreaterThan(20);
});

test('direct vote: has the same bytes if a thread signs it early, late or not at all', async () => {
  const expected = Array.from({ length: 200 }, (_, index) => String(make(index).body));
  by.signed = 0;
  const signer = open();
  const votes = expected.map((_, index) => make(index));
  for (const vote of votes) vote.signAhead(signer);
  const bodies = votes.slice(0, 50).map(({ body }) => String(body));
  expect(by.signed).toBe(50);
  expect(signer.flush()).toBe(true);
  bodies.push(...votes.slice(50, 100).map(({ body }) => String(body)));
  const own = by.signed;
  await waitForThread(signer);
  bodies.push(...votes.slice(100).map(({ body }) => String(body)));
  expect(bodies).toEqual(expected);
  expect(by.signed).toBe(own);
  expect(votes.every((vote) => verifyFastest(vote.ownJob()))).toBe(true);
});

test('direct vote: is signed by its caller after the signer is closed', async () => {
  const signer = open();
  const votes = Array.from({ length: 20 }, (_, index) => make(index));
  for (const vote of votes) vote.signAhead(signer);
  await signer.close();
  expect(signer.flush()).toBe(true);
  expect(votes.every((vote) => verifyFastest(vote.ownJob()))).toBe(true);
});

function open(): AheadSigner {
  const signer = new AheadSigner(0);
  signers.push(signer);
  return signer;
}

/** Waits until the thread has signed what it was given before: it signs in order. */
async function waitForThread(signer: AheadSigner): Promise<void> {
  for (;;) {
    const probes = Array.from({ length: 8 }, () => signer.add('probe', by.keys));
    signer.flush();
    await sleep(5);
    if (probes.at(-1)?.take()) return;
  }
}

function make(index: number): DirectVote {
  const vote = { block_hash: 'ab'.repeat(32), decision: 'approve' } as const;
  return DirectVote.create(by, { ...vote, meme_references: [], reason: `${index}` }, index)!;
}
