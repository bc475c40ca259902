/** Admission of agents, votes, discussion and alliances: valid, invalid and boundary values. */
import type { CommandKind } from 'folkmoot';
import { agent, good, hash, key, made, meme, refused } from './admission.js';

/** An astral character: one code point, two UTF-16 units, four bytes. */
const astral = '🎉';

test.each(Object.keys(good) as CommandKind[])('admission: accepts a valid %s', async (kind) => {
  expect((await made(kind)).kind).toBe(kind);
});

test.each(
  Object.entries(good).flatMap(([kind, body]) =>
    Object.keys(body)
      .filter((member) => member !== 'signature')
      .map((member) => [kind as CommandKind, member] as const),
  ),
)('admission: %s without %s points at the missing member', async (kind, member) => {
  expect(await refused(kind, { [member]: undefined })).toBe(`400 SCHEMA /${member}`);
});

test.each([
  ['register', 'name', 64, 1],
  ['register', 'description', 512, 0],
  ['status', 'reason', 256, 0],
  ['vote', 'reason', 1_024, 0],
  ['discuss', 'message', 2_048, 1],
  ['alliance_propose', 'purpose', 256, 1],
  ['meme', 'caption', 280, 0],
] as const)('admission: %s accepts a %s of at most %i code points', async (...row) => {
  const [kind, member, most, least] = row;
  for (const length of [least, most]) {
    expect(await refused(kind, { [member]: astral.repeat(length) })).toBe('none');
  }
  expect(await refused(kind, { [member]: astral.repeat(most + 1) })).toBe(`400 SCHEMA /${member}`);
  if (least === 1) expect(await refused(kind, { [member]: '' })).toBe(`400 SCHEMA /${member}`);
});

test.each([
  ['register', 'name', 7],
  ['register', 'description', null],
  ['register', 'capabilities', 'validator'],
  ['status', 'status', 'asleep'],
  ['status', 'reason', null],
  ['vote', 'decision', 'abstain'],
  ['vote', 'reason', {}],
  ['vote', 'meme_references', meme],
  ['discuss', 'sentiment', 'bored'],
  ['alliance_propose', 'target_ids', agent],
  ['alliance_respond', 'accepted', 'yes'],
  ['propose', 'transactions', {}],
  ['propose', 'state_diff', []],
  ['propose', 'meme_content', null],
] as const)('admission: %s refuses a %s of a wrong type', async (kind, member, value) => {
  expect(await refused(kind, { [member]: value })).toBe(`400 SCHEMA /${member}`);
});

test.each([
  ...['\u0000', '\n', '\t', '\u007f', '\u0085'],
])('register: refuses a name with the control character %j', async (character) => {
  expect(await refused('register', { name: `a${character}b` })).toBe('400 SCHEMA /name');
});

test.each([
  ['Lawful', 'lawful'],
  ['A-9_b', 'a-9_b'],
  ['unheard_of', 'unheard_of'],
  [`x${'y'.repeat(31)}`, `x${'y'.repeat(31)}`],
])('register: normalizes the personality %s to %s', async (sent, kept) => {
  expect((await made('register', { personality: sent })).personality).toBe(kept);
});

test.each([
  ...['', '9lives', '-a', 'a b', 'ä', `x${'y'.repeat(32)}`],
])('register: refuses the personality %j', async (personality) => {
  expect(await refused('register', { personality })).toBe('400 SCHEMA /personality');
});

test('register: requires one or two distinct capabilities', async () => {
  const both = ['producer', 'validator'];
  expect((await made('register', { capabilities: both })).capabilities).toEqual(both);
  for (const capabilities of [[], ['validator', 'validator'], [...both, 'validator']]) {
    expect(await refused('register', { capabilities })).toBe('400 SCHEMA /capabilities');
  }
  expect(await refused('register', { capabilities: ['validator', 'miner'] })).toBe(
    '400 SCHEMA /capabilities/1',
  );
});

test.each([
  ...[key.slice(1), `${key}0`, `0x${key.slice(2)}`, key.replace('0', 'g')],
])('register: refuses the public key %s', async (public_key) => {
  expect(await refused('register', { public_key })).toBe('400 SCHEMA /public_key');
});

test('register: fills an absent description with ""', async () => {
  expect((await made('register')).description).toBe('');
});

test.each([
  ...['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '1900-02-29T00:00:00Z'],
  ...['2025-13-01T00:00:00Z', '2025-00-10T00:00:00Z', '2025-01-00T00:00:00Z'],
  ...['2025-01-01T24:00:00Z', '2025-01-01T00:60:00Z', '2025-01-01T00:00:00', '2025-01-01'],
  ...['2025-01-01 00:00:00Z', '2025-01-01T00:00:00+0530', '2025-01-01T00:00:00+24:00'],
  ...['2025-01-01T00:00:00.Z', '1', '', ' 2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z\n'],
])('vote: refuses the timestamp %j', async (text) => {
  expect(await refused('vote', { timestamp: text })).toBe('400 SCHEMA /timestamp');
  expect(await refused('propose', { timestamp: text })).toBe('400 SCHEMA /timestamp');
});

test.each([
  ...[hash.slice(1), `${hash}a`, `0x${hash.slice(2)}`, hash.replace('a', 'x'), ''],
])('vote: refuses the hash %j', async (block_hash) => {
  expect(await refused('vote', { block_hash })).toBe('400 SCHEMA /block_hash');
});

test('vote: accepts 16 meme references and removes duplicates', async () => {
  const references = Array.from(
    { length: 17 },
    (_, index) => `meme_${index.toString(16).padStart(32, '0')}`,
  );
  const sixteen = references.slice(0, 16);
  expect((await made('vote', { meme_references: sixteen })).meme_references).toEqual(sixteen);
  expect(await refused('vote', { meme_references: references })).toBe(
    '400 SCHEMA /meme_references',
  );
  const { meme_references } = await made('vote', { meme_references: [meme, meme] });
  expect(meme_references).toEqual([meme]);
  expect(await refused('vote', { meme_references: [meme, 'meme_1'] })).toBe(
    '400 SCHEMA /meme_references/1',
  );
});

test('vote: fills absent optional members with "" and []', async () => {
  expect(await made('vote')).toMatchObject({ reason: '', meme_references: [] });
});

test('alliance_propose: requires 1 to 31 distinct invitees', async () => {
  const ids = Array.from({ length: 32 }, (_, at) => `agent_${at.toString(16).padStart(32, '0')}`);
  expect(await refused('alliance_propose', { target_ids: ids.slice(1) })).toBe('none');
  for (const target_ids of [[], ids, [agent, agent]]) {
    expect(await refused('alliance_propose', { target_ids })).toBe('400 SCHEMA /target_ids');
  }
  expect(await refused('alliance_propose', { target_ids: ['bob'] })).toBe(
    '400 SCHEMA /target_ids/0',
  );
});

test.each([
  [[], []],
  [['GM', 'gm', 'Gm'], ['gm']],
  [
    ['b', 'a', 'B'],
    ['b', 'a'],
  ],
  [
    ['日本語', 'Ärger', 'हिन्दी', 'a-b_9'],
    ['日本語', 'ärger', 'हिन्दी', 'a-b_9'],
  ],
  [['𝒜'.repeat(32)], ['𝒜'.repeat(32)]],
])('meme: normalizes the tags %j to %j', async (sent, kept) => {
  expect((await made('meme', { tags: sent })).tags).toEqual(kept);
});

test.each(['', 'a b', '#gm', 'a.b', astral, 'x'.repeat(33)])('meme: refuses %j', async (tag) => {
  expect(await refused('meme', { tags: ['gm', tag] })).toBe('400 SCHEMA /tags/1');
});

test('meme: accepts ten tags, counted before duplicates are removed', async () => {
  const tags = Array.from({ length: 11 }, (_, index) => `tag${index}`);
  expect(await refused('meme', { tags: tags.slice(1) })).toBe('none');
  expect(await refused('meme', { tags })).toBe('400 SCHEMA /tags');
});

test('admission: ignores a body timestamp if the header has one', async () => {
  expect(await refused('discuss', { timestamp: 'yesterday' })).toBe('none');
});
