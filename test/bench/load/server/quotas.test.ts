/** Checks before a run: rate limits of the server, the servers of --url, and conditions. */
import { blockHash, proposalInput, sha256Hex, transactionInput, voteInput } from 'folkmoot/signing';
import { verifyReference } from 'folkmoot/testing';
import { Ballots, type Block, BlocksAhead } from '../../../../dist/bench/load/blocks.js';
import { type LoadOptions, loadDefaults, workloads } from '../../../../dist/bench/load/options.js';
import { assertQuotas } from '../../../../dist/bench/load/run.js';
import type { Target } from '../../../../dist/bench/load/server.js';
import { Signers } from '../../../../dist/bench/load/signers.js';
import { expectOneLine, runCommand } from '../../../support/command.js';

const asked: LoadOptions = {
  ...loadDefaults,
  ...workloads.votes,
  ...{ url: 'http://127.0.0.1', workload: 'votes', concurrency: null, rate: 100, agents: 1_000 },
  ...{ durationMs: 10_000, warmupMs: 0, seed: 'x', keepAgents: false },
};

const limited = (limits_profile: string | null): Target => ({
  server: {
    ...{ url: asked.url, version: null, limits_profile },
    ...{ durable: null, network_id: null, epoch: null },
  },
  perMinute: Object.fromEntries(
    Object.entries({ register: 1, vote: 10, propose: 5, read: 600 }).flatMap(([name, value]) => {
      const factor = { spec: 1, bench: 10_000 }[limits_profile ?? ''];
      return factor === undefined ? [] : [[name, factor * value]];
    }),
  ),
});

const check = (profile: string | null, change: Partial<LoadOptions>) => () =>
  assertQuotas(limited(profile), { ...asked, ...change });

test.each<[string | null, Partial<LoadOptions>]>([
  ['off', { rate: 1_000_000 }],
  [null, { rate: 1_000_000 }],
  ['bench', {}],
  ['spec', { workload: 'reads', rate: 10, durationMs: 60_000 }],
  // A short run uses less than one minute's quota.
  ['spec', { workload: 'reads', rate: 200, durationMs: 3_000 }],
])('limits: with profile %s, a run with %o may start', (profile, change) => {
  expect(check(profile, change)).not.toThrow();
});

test('limits: names every limit that a run would exceed, and what to do', () => {
  expect(check('spec', { rate: 2_000 })).toThrow(
    expect.objectContaining({
      problem: 'RATE_LIMITED',
      message: expect.stringMatching(
        /register: 1,000 .*\b1 a minute \(0\.02.*vote: 20 .*\b10 a minute \(0\.17.*bench/,
      ),
    }),
  );
});

test.each<[string, Partial<LoadOptions>]>([
  ['register', { agents: 20_000 }],
  ['vote', { agents: 10, rate: 200_000, durationMs: 60_000 }],
  ['read', { workload: 'reads', rate: 200_000, durationMs: 60_000 }],
])('limits: refuses a run for which the limit %s of profile bench is too low', (limit, change) => {
  const message = expect.stringMatching(new RegExp(`${limit}: .*--limits off`));
  expect(check('bench', change)).toThrow(
    expect.objectContaining({ problem: 'RATE_LIMITED', message }),
  );
});

const many = Array.from({ length: 65 }, (_, port) => `http://127.0.0.1:${port + 1}`).join(',');

test.each([
  ['the same twice', ['--url', 'http://127.0.0.1:1,http://127.0.0.1:1/'], 'repeated'],
  ['the same in two options', ['--url', 'http://a', '--url', 'http://b,http://A/'], 'repeated'],
  ['65', ['--url', many], 'too many'],
  ['an invalid one', ['--url', 'http://127.0.0.1:1,localhost'], 'invalid'],
  ['--keep-going in a closed loop', ['--keep-going', '--concurrency', '2'], '--concurrency'],
  ['--keep-going in a search', ['--keep-going', '--saturate'], '--saturate'],
])('servers: refuses %s', async (_, args, problem) => {
  const { code, stderr } = await runCommand(['load', '--workload', 'reads', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
});

test.each([
  ['--fail-on', 'tps<1'],
  ['--fail-on', 'p99>1s,finality.p99>1s'],
  ['--fail-on', 'p999>1s', '--rate', '10'],
  ['--saturate', '--slo', 'tps=800'],
])('conditions: %s %s is unmeasured: exit code 17, without a request', async (...flags) => {
  // No server runs at this address, so a run that starts exits with 1.
  const ended = await runCommand(['load', '--url', 'http://127.0.0.1:1', ...flags]);
  expectOneLine(ended);
  expect(ended.code).toBe(17);
});

// ---- Texts, hashes and signatures signed ahead follow the protocol.

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
