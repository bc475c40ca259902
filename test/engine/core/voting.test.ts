/** Proposals: permission, order of checks, and effects. */
import {
  GENESIS_HASH,
  openLmdbStore,
  SCHEMA_VERSION,
  type SignedTransaction,
  storedLines,
  tables,
} from 'folkmoot';
import { instant, START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { answerOf, expectRefused, newPopulation, populated, word } from '../helpers.js';

const both = ['validator', 'producer'] as const;

populated('propose: opens a block on the head and returns its deadline', async (population) => {
  const [ada] = await population.joinMany(4, both);
  await population.wait(7);
  const outcome = await population.propose(ada!);
  const { block_hash } = answerOf<'propose'>(outcome);
  expect(block_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(outcome).toEqual({
    result: 'accepted',
    data: {
      block_hash,
      height: 1,
      parent_hash: GENESIS_HASH,
      status: 'voting',
      voting_deadline: instant(30_007),
      electorate: 4,
      timestamp: instant(7),
    },
  });
});

populated('propose: detects a duplicate before all other checks', async (population) => {
  const ada = await population.join(both);
  const request = population.proposal(ada);
  const first = answerOf<'propose'>(await population.submit(request));
  await population.vote(ada, first.block_hash);
  await population.status(ada, 'inactive');
  await population.wait(99_000);
  const before = population.network.read.position;
  expect(await population.submit(request)).toEqual({
    result: 'duplicate',
    data: { ...first, status: 'finalized', duplicate: true },
  });
  expect(population.network.read.position).toEqual(before);
});

test('propose: accepts exactly min_validators validators', async () => {
  const population = await newPopulation({ genesis: { min_validators: 3 } });
  const ada = await population.join(both);
  await population.join();
  expect(word(await population.propose(ada))).toBe('NO_VALIDATORS');
  await population.join();
  expect(word(await population.propose(ada))).toBe('accepted');
});

populated('propose: refuses a repeated transaction and returns its hash', async (population) => {
  const ada = await population.join(both);
  const transactions = ['one', 'two', 'one'].map((data) => population.transaction(ada, data));
  expectRefused(await population.propose(ada, { transactions }), 'DUPLICATE_TX', {
    pointer: '/transactions/2',
    details: { hash: transactions[2]!.hash },
  });
});

populated('propose: treats the producer as sender like an absent sender', async (population) => {
  const ada = await population.join(both);
  const transactions = [
    population.transaction(ada, 'one'),
    population.transaction(ada, 'one', true),
  ];
  expect(word(await population.propose(ada, { transactions }))).toBe('DUPLICATE_TX');
});

populated('propose: accepts the same data from two signers', async (population) => {
  const ada = await population.join(both);
  const stranger = population.key();
  const transactions = [
    population.transaction(ada, 'one'),
    population.transaction(stranger, 'one', true),
  ];
  expect(word(await population.propose(ada, { transactions }))).toBe('accepted');
});

populated('propose: checks duplicates again after a new final block', async (population) => {
  const [ada, bob] = [await population.join(both), await population.join(['producer'])];
  const { network } = population;
  const transactions = [population.transaction(population.key(), 'one', true)];
  const verified = await network.verify(population.proposal(bob, { transactions }));
  if ('refusal' in verified) throw new Error(verified.refusal.message);
  expect(network.precheck(verified)).toBeNull();
  await population.vote(ada, await population.open(ada, { transactions }));
  expect(word(network.precheck(verified)!)).toBe('STALE_PARENT');
  // Reuses the same list of transactions on the current head.
  const { command } = verified;
  if (command.kind !== 'propose') throw new Error('expected a proposal');
  const onHead = { ...command, parent_hash: network.read.networkState().head_hash };
  expect(word(network.precheck({ ...verified, command: onHead })!)).toBe('DUPLICATE_TX');
});

test('propose: checks transaction signatures last, and returns a pointer', async () => {
  const population = await newPopulation({ verifier: 'inline' });
  const ada = await population.join(both);
  const spoiled = (data: string): SignedTransaction => ({
    ...population.transaction(ada, data),
    signature: population.transaction(ada, `${data}?`).signature,
  });
  const good = population.transaction(ada, 'one');
  const twice = [good, spoiled('two'), spoiled('two')];
  expect(word(await population.propose(ada, { transactions: twice }))).toBe('DUPLICATE_TX');
  const transactions = [good, spoiled('two'), spoiled('three')];
  expectRefused(await population.propose(ada, { transactions }), 'MISMATCH', {
    pointer: '/transactions/1/signature',
  });
});

populated('propose: treats a second valid signature as a duplicate', async (population) => {
  const ada = await population.join(both);
  const request = population.proposal(ada);
  await population.submit(request);
  const body = JSON.parse(Buffer.from(request.body).toString()) as Record<string, unknown>;
  const other = Buffer.from(JSON.stringify({ ...body, signature: 'ab'.repeat(64) }));
  expect((await population.submit({ ...request, body: other })).result).toBe('duplicate');
});

populated('propose: applies the state diff at finalization only', async (population) => {
  const ada = await population.join(both);
  const state = () =>
    [...population.network.read.records('state')].map(({ key, value }) => [key, value]);
  const first = { additions: { a: 1, b: { c: [null] } }, deletions: {} };
  const rejected = await population.open(ada, { state_diff: first });
  await population.vote(ada, rejected, 'reject');
  expect(state()).toEqual([]);
  const block_hash = await population.open(ada, { state_diff: first });
  expect(state()).toEqual([]);
  await population.vote(ada, block_hash);
  expect(state()).toEqual([
    ['a', { value: 1, block_hash }],
    ['b', { value: { c: [null] }, block_hash }],
  ]);
  const second = { additions: { c: '' }, deletions: { a: null, absent: null } };
  const next = await population.open(ada, { state_diff: second });
  await population.vote(ada, next);
  expect(state().map(([key]) => key)).toEqual(['b', 'c']);
});

populated('propose: blocks_produced counts finalized blocks', async (population) => {
  const ada = await population.join(both);
  const produced = () => population.network.read.activeAgents().producers[0]?.blocks_produced;
  await population.vote(ada, await population.open(ada), 'reject');
  expect(produced()).toBe(0);
  await population.vote(ada, await population.open(ada));
  expect(produced()).toBe(1);
});

// ---- Votes: permission, order of checks, duplicates and equivocation.

populated('vote: is counted, and returns the tally', async (population) => {
  const [ada, bob] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.wait(10);
  expect(await population.vote(bob!, hash, 'reject')).toEqual({
    result: 'accepted',
    data: {
      ...{ block_hash: hash, agent_id: bob!.id, decision: 'reject', block_status: 'voting' },
      ...{ tally: { approve: 0, reject: 1, electorate: 4, needed: 3 }, timestamp: instant(10) },
    },
  });
});

populated('vote: refuses an unknown meme', async (population) => {
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  const known = await population.meme(ada, 'gm');
  const unknown = `meme_${'0'.repeat(32)}`;
  const memes = { meme_references: [known, unknown] };
  expectRefused(await population.vote(ada, hash, 'approve', memes), 'UNKNOWN_MEME', {
    pointer: expect.stringMatching(/^\/meme_references/),
    details: { meme_id: unknown },
  });
});

test('vote: returns the record and time of the first vote for a duplicate', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  const first = answerOf<'vote'>(await population.vote(ada!, hash));
  await population.wait(5_000);
  const again = answerOf<'vote'>(await population.vote(ada!, hash));
  expect(again).toEqual({ ...first, duplicate: true });
});

test('vote: detects a duplicate before all checks except an unknown block', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  await population.status(ada, 'inactive');
  const again = await population.vote(ada, hash);
  expect([again.result, answerOf<'vote'>(again).block_status]).toEqual(['duplicate', 'finalized']);
});

test('vote: counts the first decision and logs a conflicting one as equivocation', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash);
  const seq = population.network.read.position.seq;
  const outcome = await population.vote(ada!, hash, 'reject');
  expect(outcome.result).toBe('equivocation');
  expect(population.network.read.position.seq).toBe(seq + 1);
  expect(population.network.read.block(hash)?.tally).toMatchObject({ approve: 1, reject: 0 });
  expect([...population.network.read.records('equivocations')].map(({ value }) => value)).toEqual([
    { entry: seq + 1 },
  ]);
});

test('vote: an equivocation costs a quarter of the scale, and several at most half', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(7, ['validator', 'producer']);
  const hashes = [
    ...[await population.open(ada!), await population.open(bob!), await population.open(cem!)],
  ];
  for (const hash of hashes) await population.vote(ada!, hash);
  const scores: number[] = [];
  for (const hash of hashes) {
    await population.vote(ada!, hash, 'reject');
    scores.push(population.network.read.reputation(ada!.id)!.overall_score);
  }
  expect(scores).toEqual([25, 0, 0]);
});

// ---- Closing blocks: thresholds, exact deadlines, siblings and effects.

test('deadline: logs the tick one millisecond after the deadline', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  const ada = await population.join(both);
  await population.open(ada);
  await population.at(500_000);
  await population.network.close();
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const entries = [...storedLines(store, 0, 99)].map(({ entry }) => [entry.kind, entry.at]);
  await store.close();
  expect(entries).toEqual([
    ['genesis', START_MS],
    ['register', START_MS],
    ['propose', START_MS],
    ['tick', START_MS + 30_001],
  ]);
});

populated('deadline: events of a tick have the time of its entry', async (population) => {
  const ada = await population.join(both);
  const hash = await population.open(ada);
  const mark = population.mark();
  await population.at(500_000);
  const timestamp = instant(30_001);
  expect(population.told('block_status', mark)).toMatchObject([{ block_hash: hash, timestamp }]);
  expect(population.told('network_metrics', mark)).toMatchObject([{ timestamp }]);
  expect(population.network.read.block(hash)?.closed_at).toBe(timestamp);
});

test('deadline: follows the voting period of genesis', async () => {
  const population = await newPopulation({ genesis: { voting_period_ms: 1 } });
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.at(1);
  expect(population.blockStatus(hash)).toBe('voting');
  await population.at(2);
  expect(population.blockStatus(hash)).toBe('expired');
});
