/** Detection of file types by the first bytes, compared with a library. */
import fc from 'fast-check';
import { fileTypeFromBuffer } from 'file-type';
import { expect, test } from 'vitest';
import { sniff } from '../../../engine/admit/drafts.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const heads = {
  png: hex('89504e470d0a1a0a'),
  jpeg: hex('ffd8ffe0'),
  lossless: hex('ffd8fff7'),
  gif: Buffer.from('GIF89a'),
  gifText: Buffer.from('GIFs are fun'),
  webp: Buffer.concat([Buffer.from('RIFF'), hex('24000000'), Buffer.from('WEBPVP8 ')]),
  wav: Buffer.concat([Buffer.from('RIFF'), hex('24000000'), Buffer.from('WAVEfmt ')]),
  mark: hex('efbbbf'),
  text: Buffer.from('Hello'),
  bmp: Buffer.from('BM'),
};

const byLibrary: Record<string, string> = {
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
};

test('sniff: accepts the images that the library detects, with any following bytes', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...Object.values(heads)),
    fc.uint8Array({ maxLength: 40 }),
    fc
      .nat(12)
      .chain((length) =>
        fc.constantFrom(...Object.values(heads).map((head) => head.subarray(0, length))),
      ),
  );
  const file = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => Buffer.concat(parts));
  await fc.assert(
    fc.asyncProperty(file, async (bytes) => {
      const found = await fileTypeFromBuffer(bytes);
      const expected = found && byLibrary[found.mime];
      // The library reads further into a PNG, and fails if the file is truncated.
      const image = sniff(bytes)?.media_type;
      if (expected) expect(image).toBe(expected);
      else expect([undefined, 'text/plain; charset=utf-8', 'image/png']).toContain(image);
    }),
    { numRuns: 3_000 },
  );
});

test.each(Object.entries(heads))('sniff: detects the type of %s', (name, head) => {
  const expected: Record<string, string | undefined> = {
    png: 'image/png',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    gifText: 'image/gif',
    webp: 'image/webp',
    mark: 'text/plain; charset=utf-8',
    text: 'text/plain; charset=utf-8',
    bmp: 'text/plain; charset=utf-8',
  };
  expect(sniff(head)?.media_type).toBe(expected[name]);
});

test('sniff: refuses text whose first visible character begins a tag', () => {
  const blanks = [
    ...'\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  ];
  const text = 'text/plain; charset=utf-8';
  for (const blank of ['', ...blanks, blanks.join('')]) {
    expect([blank, sniff(Buffer.from(`${blank}<b>`))]).toEqual([blank, null]);
    expect(sniff(Buffer.from(`a${blank.replace(/[\v\f]/g, '')}<b>`))?.media_type).toBe(text);
  }
});

test('sniff: reads only the first bytes of a file that is not text', () => {
  const zip = Buffer.concat([hex('504b0304'), Buffer.alloc(1024 * 1024, 'PK')]);
  expect(sniff(zip)).toBe(null);
  const marks = Buffer.concat([...Array<Buffer>(10).fill(heads.mark), heads.png]);
  expect(sniff(marks)?.media_type).toBe('image/png');
});
