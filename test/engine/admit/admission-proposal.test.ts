/** Admission of proposals: transactions, state diff, meme content. */
import { hash, refused, transaction } from './admission.js';

const transactions = (...all: unknown[]) => ({ transactions: all });
const additions = (members: Record<string, unknown>) => ({ state_diff: { additions: members } });
const keys = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 0]));

test('propose: accepts 1 to 4,096 bytes of data in UTF-8', async () => {
  expect(await refused('propose', transactions(transaction('é'.repeat(2_048))))).toBe('none');
  expect(await refused('propose', transactions(transaction(`${'é'.repeat(2_048)}x`)))).toBe(
    '400 SCHEMA /transactions/0/data',
  );
  expect(await refused('propose', transactions(transaction('x'.repeat(4_097))))).toBe(
    '400 SCHEMA /transactions/0/data',
  );
  expect(await refused('propose', transactions(transaction('a'), transaction('')))).toBe(
    '400 SCHEMA /transactions/1/data',
  );
});

test('propose: checks the form before a missing signature', async () => {
  const all = transactions(transaction('a', { signature: undefined }), transaction('b', { hash }));
  expect(await refused('propose', all)).toBe('400 HASH_MISMATCH /transactions/1/hash');
});

test('propose: refuses these names only at the top level', async () => {
  expect(await refused('propose', additions({ producer: 1, network_id: 2 }))).toBe('none');
  expect(await refused('propose', transactions(transaction('a', { producer: 1 })))).toBe('none');
});

test('state_diff: accepts at most 1,000 keys', async () => {
  const diff = (add: number, drop: number) => ({
    state_diff: { additions: keys(add, 'a'), deletions: keys(drop, 'd') },
  });
  expect(await refused('propose', diff(1_000, 0))).toBe('none');
  expect(await refused('propose', diff(400, 600))).toBe('none');
  expect(await refused('propose', diff(500, 501))).toMatch(/^400 SCHEMA \/state_diff/);
  expect(await refused('propose', diff(0, 1_001))).toMatch(/^400 SCHEMA \/state_diff/);
});

test('state_diff: accepts values of at most 4 KiB of JSON, in bytes', async () => {
  const fitting = 'é'.repeat(2_047);
  expect(await refused('propose', additions({ k: fitting }))).toBe('none');
  expect(await refused('propose', additions({ k: `${fitting}x` }))).toBe(
    '400 SCHEMA /state_diff/additions/k',
  );
  const larger = { list: Array.from({ length: 2_000 }, () => 10) };
  expect(await refused('propose', additions({ k: larger }))).toBe(
    '400 SCHEMA /state_diff/additions/k',
  );
});

test('state_diff: refuses a key in both members and escapes its name', async () => {
  const state_diff = { additions: { ok: 1, 'a/b~c': 1 }, deletions: { 'a/b~c': null } };
  expect(await refused('propose', { state_diff })).toBe('400 SCHEMA /state_diff/additions/a~1b~0c');
});
