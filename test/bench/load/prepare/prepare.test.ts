/** Texts, hashes and signatures signed ahead follow the protocol. */
import { blockHash, proposalInput, sha256Hex, transactionInput, voteInput } from 'folkmoot/signing';
import { verifyReference } from 'folkmoot/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Ballots, type Block, BlocksAhead } from '../../../../dist/bench/load/blocks.js';
import { Signers } from '../../../../dist/bench/load/signers.js';

const networkId = 'a "network"';
const genesis = '0'.repeat(64);

function signersOf(): Signers {
  const signers = new Signers({ seed: 'prepare', run: 'run', networkId });
  onTestFinished(() => signers.close());
  return signers;
}

function blocksOf(signers: Signers, expected: number): BlocksAhead {
  const blocks = new BlocksAhead({
    ...{ signers, voters: 7, producers: [0, 1], batch: 3, needed: 5, expected, blockMs: 10 },
    senders: { first: 1_000, count: 2 },
    now: Date.now,
    onReady() {},
    onFailed(error) {
      throw error;
    },
  });
  onTestFinished(() => blocks.close());
  return blocks;
}

interface Transaction {
  data: string;
  hash: string;
  sender: string;
  signature: string;
}

type Body = Record<string, unknown> & { signature: string; transactions: Transaction[] };

const bodyOf = (block: Block) => JSON.parse(Buffer.from(block.body).toString()) as Body;

const verifies = (text: string, publicKey: string, signature: string) =>
  verifyReference({
    message: Buffer.from(text),
    publicKey: Buffer.from(publicKey, 'hex'),
    signature: Buffer.from(signature, 'hex'),
  });

test('prepare: blocks form a chain with valid signatures', async () => {
  const signers = signersOf();
  const keys = await signers.publicKeys([0, 1, 2, 3, 4, 5, 6]);
  const blocks = blocksOf(signers, 3);
  await blocks.prepare(genesis);
  expect(blocks.waiting).toEqual({ blocks: 3, votes: 21, transactions: 9 });
  let head = genesis;
  const seen = new Set<string>();
  for (let count = 0; count < 3; count += 1) {
    expect(blocks.has(head)).toBe(true);
    const block = blocks.take();
    const body = bodyOf(block);
    const producer = keys[block.producer]!;
    expect(body.parent_hash).toBe(head);
    expect(block.hash).toBe(blockHash(body, producer, networkId));
    expect(verifies(proposalInput(body), producer, body.signature)).toBe(true);
    for (const { data, hash, sender, signature } of body.transactions) {
      expect(sha256Hex(data)).toBe(hash);
      expect(verifies(transactionInput(networkId, hash), sender, signature)).toBe(true);
      seen.add(hash);
    }
    for (let index = 0; index < 7; index += 1) {
      const vote = JSON.parse(block.ballots.bodyAt(index)!) as Body;
      expect(vote).toMatchObject({ block_hash: block.hash, decision: 'approve' });
      const voter = keys[block.ballots.voterAt(index)]!;
      expect(verifies(voteInput(vote), voter, vote.signature)).toBe(true);
    }
    head = block.hash;
  }
  expect(seen.size).toBe(9);
});

test('prepare: restarts from another head with unsent transactions', async () => {
  const blocks = blocksOf(signersOf(), 4);
  await blocks.prepare(genesis);
  const first = bodyOf(blocks.take()).transactions.map(({ data }) => data);
  const other = 'ab'.repeat(32);
  expect(blocks.has(other)).toBe(false);
  await expect.poll(() => blocks.has(other)).toBe(true);
  const second = bodyOf(blocks.take());
  expect(second.parent_hash).toBe(other);
  const numbers = second.transactions.map(({ data }) => (JSON.parse(data) as Body).number);
  // The second block's transactions are now in the first block on the new head.
  expect([first.length, numbers]).toEqual([3, [3, 4, 5]]);
});

test('prepare: votes are ready in sending order', async () => {
  const ballots = new Ballots({ hash: genesis, timestamp: '2026-01-01', first: 5, voters: 600 });
  expect(ballots.bodyAt(0)).toBe(null);
  const counts: number[] = [];
  await ballots.sign(signersOf(), 590, () => counts.push(ballots.signed));
  expect(counts).toEqual([256, 512, 590]);
  expect([ballots.bodyAt(589), ballots.bodyAt(590)]).toEqual([expect.any(String), null]);
  expect([ballots.voterAt(0), ballots.voterAt(599)]).toEqual([5, 4]);
});
