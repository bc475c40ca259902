/** Admission of agents, votes, discussion and alliances: valid, invalid and boundary values. */
import type { CommandKind } from 'folkmoot';
import { good, made, meme, refused } from './admission.js';

test.each(
  Object.entries(good).flatMap(([kind, body]) =>
    Object.keys(body)
      .filter((member) => member !== 'signature')
      .map((member) => [kind as CommandKind, member] as const),
  ),
)('admission: %s without %s points at the missing member', async (kind, member) => {
  expect(await refused(kind, { [member]: undefined })).toBe(`400 SCHEMA /${member}`);
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

test('meme: accepts ten tags, counted before duplicates are removed', async () => {
  const tags = Array.from({ length: 11 }, (_, index) => `tag${index}`);
  expect(await refused('meme', { tags: tags.slice(1) })).toBe('none');
  expect(await refused('meme', { tags })).toBe('400 SCHEMA /tags');
});

test('admission: ignores a body timestamp if the header has one', async () => {
  expect(await refused('discuss', { timestamp: 'yesterday' })).toBe('none');
});
