/** Admission of proposals: transactions, state diff, meme content. */
import { hash, key, made, refused, signature, transaction } from './admission.js';

const transactions = (...all: unknown[]) => ({ transactions: all });
const additions = (members: Record<string, unknown>) => ({ state_diff: { additions: members } });
const keys = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 0]));

test('propose: accepts 0 to 1,000 transactions', async () => {
  const many = Array.from({ length: 1_001 }, (_, index) => transaction(`${index}`));
  expect((await made('propose', transactions(...many.slice(1)))).transactions).toHaveLength(1_000);
  expect(await refused('propose', transactions(...many))).toBe('400 SCHEMA /transactions');
});

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

test('propose: refuses a wrong hash of the data with 400', async () => {
  const wrong = transaction('a', { hash });
  expect(await refused('propose', transactions(transaction('b'), wrong))).toBe(
    '400 HASH_MISMATCH /transactions/1/hash',
  );
});

test('propose: takes the sender or else the producer as the signer of a transaction', async () => {
  const sender = 'AB'.repeat(32);
  const command = await made(
    'propose',
    transactions(transaction('a'), transaction('b', { sender })),
  );
  expect(command.transactions.map(({ signer }) => signer)).toEqual([key, sender.toLowerCase()]);
});

test('propose: refuses a malformed sender with 400', async () => {
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
])('propose: refuses with %s a transaction signed with %j', async (reason, bad) => {
  const all = transactions(transaction('a'), transaction('b', { signature: bad }));
  expect(await refused('propose', all)).toBe(`401 ${reason} /transactions/1/signature`);
});

test('propose: checks the form before a missing signature', async () => {
  const all = transactions(transaction('a', { signature: undefined }), transaction('b', { hash }));
  expect(await refused('propose', all)).toBe('400 HASH_MISMATCH /transactions/1/hash');
});

test.each(['producer', 'network_id'])('propose: refuses a member named %s', async (member) => {
  for (const value of ['x', null, key]) {
    expect(await refused('propose', { [member]: value })).toBe(`400 SCHEMA /${member}`);
  }
});

test('propose: refuses these names only at the top level', async () => {
  expect(await refused('propose', additions({ producer: 1, network_id: 2 }))).toBe('none');
  expect(await refused('propose', transactions(transaction('a', { producer: 1 })))).toBe('none');
});

test('propose: fills absent optional members with empty values', async () => {
  expect(await made('propose')).toMatchObject({ additions: {}, deletions: [], meme_content: {} });
  expect(await refused('propose', { state_diff: {} })).toBe('none');
});

test('state_diff: accepts keys of 1 to 128 visible ASCII characters', async () => {
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

test('state_diff: accepts any JSON value', async () => {
  const members = { a: null, b: [1, 'x'], c: { d: true }, e: -0.5, f: '' };
  expect((await made('propose', additions(members))).additions).toEqual(members);
});

const meme_content = { type: 'text', content: 'gm', tags: ['gm'] };

test('meme_content: requires type, content and tags', async () => {
  for (const member of Object.keys(meme_content)) {
    const without = { ...meme_content, [member]: undefined };
    expect(await refused('propose', { meme_content: without })).toBe(
      `400 SCHEMA /meme_content/${member}`,
    );
  }
});

test('meme_content: accepts content of at most 2,048 code points', async () => {
  const content = (length: number) => ({
    meme_content: { ...meme_content, content: '🎉'.repeat(length) },
  });
  expect(await refused('propose', content(0))).toBe('none');
  expect(await refused('propose', content(2_048))).toBe('none');
  expect(await refused('propose', content(2_049))).toBe('400 SCHEMA /meme_content/content');
});

test('meme_content: accepts three types and normalizes tags', async () => {
  const video = { ...meme_content, type: 'video' };
  expect(await refused('propose', { meme_content: video })).toBe('400 SCHEMA /meme_content/type');
  const tagged = { ...meme_content, tags: ['B', 'a', 'b'] };
  const command = await made('propose', { meme_content: tagged });
  expect(command.meme_content.tags).toEqual(['b', 'a']);
});
