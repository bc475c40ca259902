/** Admission of raw bodies: JSON, keys and signatures. */
import type { SignedRequest } from 'folkmoot';
import { fc, forAllAsync } from '../../support/property.js';
import { around, changed, good, key, refusalAtDoor } from './admission.js';

const vote = (text: string) => around('vote', Buffer.from(text));

/**
 * Builds a valid vote with one more member, as text, because JSON.stringify would repair some
 * members.
 */
const voteWith = (member: string) => vote(`${JSON.stringify(good.vote).slice(0, -1)},${member}}`);

async function said(request: SignedRequest): Promise<string> {
  const refusal = await refusalAtDoor(request);
  if (refusal === 'none') return 'none';
  return `${refusal.status} ${refusal.reason} ${refusal.pointer ?? ''}`.trim();
}

test('json: refuses a lone surrogate in a name and accepts a pair', async () => {
  expect(await said(voteWith('"\\ud800":1'))).toMatch(/^400 BAD_JSON/);
  expect(await said(voteWith('"\\ud83c\\udf89":"\\ud83c\\udf89"'))).toBe('none');
});

test.each([
  ...['9007199254740991', '-9007199254740991', '0.1', '-0', '1e-7', '1.5e15'],
])('json: accepts the number %s', async (number) => {
  expect(await said(voteWith(`"x":${number}`))).toBe('none');
});

test.each([
  ['"__proto__":{}', '/__proto__'],
  ['"constructor":1', '/constructor'],
  ['"prototype":null', '/prototype'],
  ['"x":[{"__proto__":1}]', '/x/0/__proto__'],
])('json: refuses the name in %s', async (member, pointer) => {
  expect(await said(voteWith(member))).toBe(`400 BAD_JSON ${pointer}`);
});

test('json: accepts 16 levels and refuses 17', async () => {
  const nested = (levels: number) => `"x":${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(await said(voteWith(nested(15)))).toBe('none');
  expect(await said(voteWith(nested(16)))).toMatch(/^400 BAD_JSON \/x/);
  expect(await said(vote('['.repeat(30_000) + ']'.repeat(30_000)))).toMatch(/^400 BAD_JSON/);
});

test('json: escapes names in pointers', async () => {
  expect(await said(voteWith('"a/b":{"c~d":1e400}'))).toBe('400 BAD_JSON /a~1b/c~0d');
});

type Json = null | number | string | Json[] | [name: string, value: Json][];
const names = fc.constantFrom(
  '',
  'a',
  'b',
  '"',
  ':',
  '\\',
  '"a":1,',
  '\u00e9',
  '\u{1f389}',
  '0',
  '1',
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 0, -1, 12_345_678, 1e20 / 1e15),
    names,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('tree')), { minLength: 1, maxLength: 3 }),
  ),
}));
const isObject = (value: Json): value is [string, Json][] =>
  Array.isArray(value) && value.length > 0 && value.every(isMember);
const isMember = (one: unknown) =>
  Array.isArray(one) && one.length === 2 && typeof one[0] === 'string';

/** Writes each object with all its members in order, with blanks and escapes. */
function written(value: Json, blank: string, quoted: (text: string) => string): string {
  if (typeof value === 'string') return quoted(value);
  if (!Array.isArray(value)) return JSON.stringify(value);
  const inner = isObject(value)
    ? value.map(([name, one]) => `${quoted(name)}${blank}:${blank}${written(one, blank, quoted)}`)
    : (value as Json[]).map((one) => written(one, blank, quoted));
  const [open, close] = isObject(value) ? '{}' : '[]';
  return `${open}${inner.join(`${blank},`)}${close}`;
}

const hasTwice = (value: Json): boolean =>
  isObject(value)
    ? new Set(value.map(([name]) => name)).size < value.length ||
      value.some(([, one]) => hasTwice(one))
    : Array.isArray(value) && (value as Json[]).some(hasTwice);

const escaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, at) =>
    text.charCodeAt(at).toString(16).padStart(4, '0'),
  )
    .map((hex) => `\\u${hex}`)
    .join('')}"`;

test('json: refuses exactly the bodies in which an object has a member twice', async () => {
  const blanks = fc.constantFrom('', ' ', '\n\t');
  const escapes = fc.constantFrom(JSON.stringify, escaped);
  await forAllAsync([tree, blanks, escapes], { numRuns: 1_000 }, async (value, blank, quoted) => {
    const found = await said(voteWith(`"x":${written(value, blank, quoted)}`));
    expect(/^400 BAD_JSON/.test(found), found).toBe(hasTwice(value));
  });
});

test('json: accepts a body of 64 KiB and refuses one byte more with 413', async () => {
  const padding = 64 * 1024 - voteWith('"x":""').body.length;
  expect(await said(voteWith(`"x":"${'a'.repeat(padding)}"`))).toBe('none');
  expect(await said(voteWith(`"x":"${'a'.repeat(padding + 1)}"`))).toBe('413 TOO_LARGE');
});

test('json: accepts a proposal of 2 MiB', async () => {
  const text = JSON.stringify(good.propose).slice(0, -1);
  const padded = (bytes: number) => {
    const filler = 'a'.repeat(bytes - text.length - ',"x":""}'.length);
    return around('propose', Buffer.from(`${text},"x":"${filler}"}`));
  };
  expect(await said(padded(2 * 1024 * 1024))).toBe('none');
  expect(await said(padded(2 * 1024 * 1024 + 1))).toBe('413 TOO_LARGE');
});

test.each([
  ...['register', 'status', 'discuss', 'meme', 'alliance_propose', 'alliance_leave'],
] as const)('signature: refuses malformed headers of %s', async (kind) => {
  const request = changed(kind, {});
  const told = [
    await said({ ...request, signature: '' }),
    await said({ ...request, signature: 'xyz' }),
    await said({ ...request, timestamp: '' }),
    await said({ ...request, timestamp: '2026-02-30T00:00:00Z' }),
    await said({ ...request, public_key: 'xyz' }),
  ].map((text) => text.split(' ').slice(0, 2).join(' '));
  const reasons = ['MISSING', 'MALFORMED', 'MISSING', 'MALFORMED', 'MALFORMED'];
  expect(told).toEqual(reasons.map((reason) => `401 ${reason}`));
});

test.each([
  ...['status', 'vote', 'propose', 'discuss', 'meme', 'alliance_respond'],
] as const)('signature: refuses %s without the key header', async (kind) => {
  expect(await said({ ...changed(kind, {}), public_key: '' })).toBe('401 MISSING');
});

test('signature: checks the signature after the schema', async () => {
  const unsigned = { signature: undefined };
  expect(await said(changed('vote', { ...unsigned, decision: 'maybe' }))).toMatch(/^400 SCHEMA/);
  expect(await said(changed('vote', { ...unsigned, timestamp: 'now' }))).toMatch(/^400 SCHEMA/);
  expect(await said({ ...changed('register', { name: '' }), signature: '' })).toMatch(/^400/);
  expect(await said(changed('propose', { ...unsigned, producer: key }))).toMatch(/^400 SCHEMA/);
});

test('alliance_leave: accepts an absent body', async () => {
  expect(await said(around('alliance_leave', new Uint8Array()))).toBe('none');
});
