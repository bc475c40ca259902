/** Proposals: permission, order of checks, and effects. */
import { GENESIS_HASH, type SignedTransaction } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant } from '../../../support/citizens.js';
import { answerOf, expectRefused, newPopulation, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;

test('propose: opens a block on the head and returns its deadline', async () => {
  const population = await newPopulation();
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

test('propose: detects a duplicate before all other checks', async () => {
  const population = await newPopulation();
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

test('propose: refuses a repeated transaction and returns its hash', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const transactions = ['one', 'two', 'one'].map((data) => population.transaction(ada, data));
  expectRefused(await population.propose(ada, { transactions }), 'DUPLICATE_TX', {
    pointer: '/transactions/2',
    details: { hash: transactions[2]!.hash },
  });
});

test('propose: treats the producer as sender like an absent sender', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const transactions = [
    population.transaction(ada, 'one'),
    population.transaction(ada, 'one', true),
  ];
  expect(word(await population.propose(ada, { transactions }))).toBe('DUPLICATE_TX');
});

test('propose: accepts the same data from two signers', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const stranger = population.key();
  const transactions = [
    population.transaction(ada, 'one'),
    population.transaction(stranger, 'one', true),
  ];
  expect(word(await population.propose(ada, { transactions }))).toBe('accepted');
});

test('propose: checks duplicates again after a new final block', async () => {
  const population = await newPopulation();
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
  if (command.kind !== 'propose') throw new Error('this is no proposal');
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

test('propose: treats a second valid signature as a duplicate', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const request = population.proposal(ada);
  await population.submit(request);
  const body = JSON.parse(Buffer.from(request.body).toString()) as Record<string, unknown>;
  const other = Buffer.from(JSON.stringify({ ...body, signature: 'ab'.repeat(64) }));
  expect((await population.submit({ ...request, body: other })).result).toBe('duplicate');
});

test('propose: applies the state diff at finalization only', async () => {
  const population = await newPopulation();
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

test('propose: blocks_produced counts finalized blocks', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const produced = () => population.network.read.activeAgents().producers[0]?.blocks_produced;
  await population.vote(ada, await population.open(ada), 'reject');
  expect(produced()).toBe(0);
  await population.vote(ada, await population.open(ada));
  expect(produced()).toBe(1);
});
