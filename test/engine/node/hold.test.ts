/** A held network. Time stops, writes are refused, and the log does not show the hold. */
import fc from 'fast-check';
import {
  composeProposal,
  composeRegister,
  composeVote,
  formatInstant,
  GENESIS_HASH,
  type Signatory,
} from 'folkmoot';
import { expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { replayHere } from '../../support/runs.js';

const timestamp = formatInstant(START_MS);
const capabilities = ['validator', 'producer'] as const;
const registration = (by: Signatory) =>
  composeRegister(by, timestamp, { personality: 'lawful', name: 'Ada', capabilities });
const [ada, bob, eve] = [1, 2, 3].map(signatoryOf) as [Signatory, Signatory, Signatory];
const accepted = { result: 'accepted' };
const paused = {
  result: 'refused',
  refusal: { reason: 'PAUSED', code: 'NETWORK_ERROR', status: 503 },
};

async function voting(path?: string) {
  const there = await testNetwork(path === undefined ? {} : { path });
  for (const by of [ada, bob, eve]) await there.submit(registration(by));
  const proposal = composeProposal(ada, timestamp, { parent_hash: GENESIS_HASH, transactions: [] });
  const outcome = await there.submit(proposal);
  if (outcome.result !== 'accepted' || !('block_hash' in outcome.data)) throw new Error('refused');
  const { block_hash } = outcome.data;
  const vote = (by: Signatory) =>
    there.submit(composeVote(by, timestamp, { block_hash, decision: 'approve' }));
  return { ...there, vote, block_hash };
}

test('hold: refuses writes, and continues at the same time after the release', async () => {
  const path = temporaryFolder();
  const { network, clock, submit, vote, block_hash } = await voting(path);
  clock.set(START_MS + 10_000);
  const before = network.read.position;
  network.time.hold();
  network.time.hold();
  clock.set(START_MS + 3_600_000);
  expect([network.time.held, network.time.now]).toEqual([true, START_MS + 10_000]);
  expect(await vote(bob)).toMatchObject(paused);
  expect(await submit(registration(signatoryOf(4)))).toMatchObject(paused);
  // By the wall clock, the block's deadline passed an hour ago.
  expect(network.fireDeadlines()).toEqual([]);
  expect(network.read.position).toEqual(before);
  expect(network.read.block(block_hash)).toMatchObject({ status: 'voting' });

  network.time.release();
  network.time.release();
  expect([network.time.held, network.time.now]).toEqual([false, START_MS + 10_000]);
  expect(await vote(bob)).toMatchObject(accepted);
  clock.set(START_MS + 3_600_000 + 19_000);
  network.fireDeadlines();
  expect(network.read.block(block_hash)).toMatchObject({ status: 'voting' });
  clock.set(START_MS + 3_600_000 + 20_002);
  network.fireDeadlines();
  await network.durable;
  expect(network.read.block(block_hash)).toMatchObject({
    status: 'expired',
    closed_at: formatInstant(START_MS + 30_001),
  });
  await network.close();
  expect(await replayHere(path)).toMatchObject({ match: true });
});

test('hold: server_time is the wall time', async () => {
  const { network, clock } = await voting();
  network.time.hold();
  clock.set(START_MS + 3_600_000);
  const first = network.read.networkState().server_time;
  clock.set(START_MS + 3_600_001);
  const second = network.read.networkState().server_time;
  network.time.release();
  const third = network.read.networkState().server_time;
  const later = (ms: number) => formatInstant(START_MS + 3_600_000 + ms);
  expect([first, second, third]).toEqual([later(0), later(1), later(1)]);
});

test('hold: a held network can be closed, and its folder replays', async () => {
  const path = temporaryFolder();
  const { network, vote } = await voting(path);
  const inFlight = vote(bob);
  network.time.hold();
  await network.close();
  network.time.release();
  await inFlight;
  expect(await replayHere(path)).toMatchObject({ match: true });
});

type Deed =
  | { kind: 'hold' }
  | { kind: 'release' }
  | { kind: 'pass'; ms: number }
  | { kind: 'vote'; by: number }
  | { kind: 'join'; number: number };

const deeds = fc.array(
  fc.oneof(
    fc.constantFrom<Deed>({ kind: 'hold' }, { kind: 'release' }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
    fc.record({ kind: fc.constant('vote' as const), by: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('join' as const), number: fc.integer({ min: 4, max: 9 }) }),
  ),
  { minLength: 5, maxLength: 60 },
);

/** Runs a list of actions. Without holds, skips the actions that fall into a hold. */
async function live(list: readonly Deed[], holds: boolean) {
  const { network, clock, submit, vote } = await voting();
  let held = false;
  let passed = 0;
  for (const deed of list) {
    if (deed.kind === 'hold' || deed.kind === 'release') {
      held = deed.kind === 'hold';
      if (holds && held) network.time.hold();
      else if (holds) network.time.release();
    } else if (held && !holds) {
      // Refused actions have no effect.
    } else if (deed.kind === 'pass') {
      clock.set(clock.now() + deed.ms);
      passed += held ? 0 : deed.ms;
      network.fireDeadlines();
    } else {
      const outcome = await (deed.kind === 'vote'
        ? vote(signatoryOf(deed.by))
        : submit(registration(signatoryOf(deed.number))));
      if (held) expect(outcome).toMatchObject(paused);
      else expect(outcome).not.toMatchObject(paused);
    }
    expect(network.time.now).toBe(START_MS + passed);
  }
  await network.durable;
  const { digest, log_digest, at } = network.read.position;
  await network.close();
  return { digest, log_digest, at };
}

test('hold: the log equals that of a session without holds', async () => {
  await fc.assert(
    fc.asyncProperty(deeds, async (list) => {
      expect(await live(list, true)).toEqual(await live(list, false));
    }),
    { numRuns: counts.heldSessions },
  );
});
