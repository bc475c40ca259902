/** Proposals: permission, order of checks, and effects. */
import { type SignedTransaction, storedLines } from 'folkmoot';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import { expectRefused, newPopulation, populated, word } from '../helpers.js';

const both = ['validator', 'producer'] as const;

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
  const request = population.proposal(await population.join(both));
  await population.submit(request);
  const body = JSON.parse(Buffer.from(request.body).toString()) as Record<string, unknown>;
  const other = Buffer.from(JSON.stringify({ ...body, signature: 'ab'.repeat(64) }));
  expect((await population.submit({ ...request, body: other })).result).toBe('duplicate');
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

// ---- Closing blocks: thresholds, exact deadlines, siblings and effects.

test('deadline: logs the tick one millisecond after the deadline', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  await population.open(await population.join(both));
  await population.at(500_000);
  await population.network.close();
  const store = openForReading(path);
  const entries = [...storedLines(store, 0, 99)].map(({ entry }) => [entry.kind, entry.at]);
  await store.close();
  expect(entries).toEqual([
    ['genesis', START_MS],
    ['register', START_MS],
    ['propose', START_MS],
    ['tick', START_MS + 30_001],
  ]);
});
