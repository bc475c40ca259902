/** Admission of proposals: transactions, state diff, meme content. */
import { expect, test } from 'vitest';
import { hash, key, made, refused, signature, transaction } from './admission.js';

const transactions = (...all: unknown[]) => ({ transactions: all });
const additions = (members: Record<string, unknown>) => ({ state_diff: { additions: members } });
const keys = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 0]));

test('propose: a thousand transactions at most, and none is enough', async () => {
  const many = Array.from({ length: 1_001 }, (_, index) => transaction(`${index}`));
  expect((await made('propose', transactions(...many.slice(1)))).transactions).toHaveLength(1_000);
  expect(await refused('propose', transactions(...many))).toBe('400 SCHEMA /transactions');
});

test('propose: data is 1 to 4,096 bytes of UTF-8, not characters', async () => {
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

test('propose: a hash that is not that of the data is refused with 400', async () => {
  const wrong = transaction('a', { hash });
  expect(await refused('propose', transactions(transaction('b'), wrong))).toBe(
    '400 HASH_MISMATCH /transactions/1/hash',
  );
});

test('propose: an upper-case hash is that of the data and is kept in lower case', async () => {
  const one = transaction('a');
  const upper = { ...one, hash: String(one.hash).toUpperCase() };
  expect((await made('propose', transactions(upper))).transactions[0]?.hash).toBe(one.hash);
});

test('propose: the signer of a transaction is its sender, else the producer', async () => {
  const sender = 'AB'.repeat(32);
  const command = await made(
    'propose',
    transactions(transaction('a'), transaction('b', { sender })),
  );
  expect(command.transactions.map(({ signer }) => signer)).toEqual([key, sender.toLowerCase()]);
});

test('propose: a malformed sender is refused with 400', async () => {
  expect(await refused('propose', transactions(transaction('a', { sender: 'me' })))).toBe(
    '400 SCHEMA /transactions/0/sender',
  );
});

test.each([
  ['MISSING', undefined],
  ['MISSING', ''],
  ['MALFORMED', 'ab'],
  ['MALFORMED', 7],
  ['MALFORMED', `${signature}00`],
])('propose: %s is told of a transaction signed with %j', async (reason, bad) => {
  const all = transactions(transaction('a'), transaction('b', { signature: bad }));
  expect(await refused('propose', all)).toBe(`401 ${reason} /transactions/1/signature`);
});

test('propose: what is malformed is told before a signature that is missing', async () => {
  const all = transactions(transaction('a', { signature: undefined }), transaction('b', { hash }));
  expect(await refused('propose', all)).toBe('400 HASH_MISMATCH /transactions/1/hash');
});

test.each(['producer', 'network_id'])('propose: a member named %s is refused', async (member) => {
  for (const value of ['x', null, key]) {
    expect(await refused('propose', { [member]: value })).toBe(`400 SCHEMA /${member}`);
  }
});

test('propose: these names are refused at the top only', async () => {
  expect(await refused('propose', additions({ producer: 1, network_id: 2 }))).toBe('none');
  expect(await refused('propose', transactions(transaction('a', { producer: 1 })))).toBe('none');
});

test('propose: absent optional members come out empty', async () => {
  expect(await made('propose')).toMatchObject({ additions: {}, deletions: [], meme_content: {} });
  expect(await refused('propose', { state_diff: {} })).toBe('none');
});

test('state_diff: keys are 1 to 128 visible ASCII characters', async () => {
  expect(await refused('propose', additions({ '!': 1, '~/a~b': 2, ['k'.repeat(128)]: 3 }))).toBe(
    'none',
  );
  for (const bad of ['', 'a b', 'ä', 'k'.repeat(129), 'a\u007f', 'tab\t']) {
    for (const part of ['additions', 'deletions']) {
      const outcome = await refused('propose', { state_diff: { [part]: { [bad]: 1 } } });
      expect(outcome).toMatch(new RegExp(`^400 SCHEMA /state_diff/${part}`));
    }
  }
});

test('state_diff: a thousand keys in all', async () => {
  const diff = (add: number, drop: number) => ({
    state_diff: { additions: keys(add, 'a'), deletions: keys(drop, 'd') },
  });
  expect(await refused('propose', diff(1_000, 0))).toBe('none');
  expect(await refused('propose', diff(400, 600))).toBe('none');
  expect(await refused('propose', diff(500, 501))).toMatch(/^400 SCHEMA \/state_diff/);
  expect(await refused('propose', diff(0, 1_001))).toMatch(/^400 SCHEMA \/state_diff/);
});

test('state_diff: a value is at most 4 KiB of JSON, counted in bytes', async () => {
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

test('state_diff: a key in both members is refused, with its name escaped', async () => {
  const state_diff = { additions: { ok: 1, 'a/b~c': 1 }, deletions: { 'a/b~c': null } };
  expect(await refused('propose', { state_diff })).toBe('400 SCHEMA /state_diff/additions/a~1b~0c');
});

test('state_diff: any JSON is a value', async () => {
  const members = { a: null, b: [1, 'x'], c: { d: true }, e: -0.5, f: '' };
  expect((await made('propose', additions(members))).additions).toEqual(members);
});

const meme_content = { type: 'text', content: 'gm', tags: ['gm'] };

test('meme_content: needs type, content and tags', async () => {
  for (const member of Object.keys(meme_content)) {
    const without = { ...meme_content, [member]: undefined };
    expect(await refused('propose', { meme_content: without })).toBe(
      `400 SCHEMA /meme_content/${member}`,
    );
  }
});

test('meme_content: content is at most 2,048 code points', async () => {
  const content = (length: number) => ({
    meme_content: { ...meme_content, content: '🎉'.repeat(length) },
  });
  expect(await refused('propose', content(0))).toBe('none');
  expect(await refused('propose', content(2_048))).toBe('none');
  expect(await refused('propose', content(2_049))).toBe('400 SCHEMA /meme_content/content');
});

test('meme_content: the type is one of three, tags are cleaned', async () => {
  const video = { ...meme_content, type: 'video' };
  expect(await refused('propose', { meme_content: video })).toBe('400 SCHEMA /meme_content/type');
  const tagged = { ...meme_content, tags: ['B', 'a', 'b'] };
  const command = await made('propose', { meme_content: tagged });
  expect(command.meme_content.tags).toEqual(['b', 'a']);
});
