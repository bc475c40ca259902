import fc from 'fast-check';
import { readImageSize } from '../../../ui/components/image-size.js';

const bytes = (hex: string) =>
  Uint8Array.from(Buffer.from(hex.replaceAll(' ', '').padEnd(80, '0'), 'hex'));
const text = (word: string) => Buffer.from(word, 'latin1').toString('hex');

test.each([
  ['gif', `${text('GIF89a')} 3075 3075`, { kind: 'gif', width: 30_000, height: 30_000 }],
  [
    'png',
    `89${text('PNG')}0d0a1a0a 0000000d ${text('IHDR')} 00000280 000001e0`,
    { kind: 'png', width: 640, height: 480 },
  ],
  [
    'jpeg',
    'ffd8 ffe0 0004 0000 ffc0 0011 08 01e0 0280 03',
    { kind: 'jpeg', width: 640, height: 480 },
  ],
  [
    'webp, extended',
    `${text('RIFF')} 00000000 ${text('WEBPVP8X')} 0a000000 00000000 7f0200 df0100`,
    { kind: 'webp', width: 640, height: 480 },
  ],
  [
    'webp, lossy',
    `${text('RIFF')} 00000000 ${text('WEBPVP8 ')} 00000000 000000 9d012a 8002 e001`,
    { kind: 'webp', width: 640, height: 480 },
  ],
])('image: reads the size of %s', (_, hex, size) => {
  expect(readImageSize(bytes(hex))).toEqual(size);
});

test('image: returns null for text, and accepts any bytes', () => {
  expect(readImageSize(Buffer.from('just some words that are long enough to look at'))).toBeNull();
  const begin = fc.constantFrom(
    'GIF89a',
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
    'RIFF\0\0\0\0WEBPVP8X',
    '\xff\xd8\xff',
  );
  fc.assert(
    fc.property(begin, fc.uint8Array({ maxLength: 200 }), (head, rest) => {
      const size = readImageSize(Uint8Array.from([...Buffer.from(head, 'latin1'), ...rest]));
      if (size) expect(size.width * size.height).toBeGreaterThanOrEqual(0);
    }),
  );
});
