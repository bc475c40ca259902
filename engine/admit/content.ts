/** What a meme's file is: told by its bytes, never by its sender. */
import type { MemeType } from '../protocol/schema/index.js';

export interface Media {
  type: MemeType;
  /** The type it is served with. */
  media_type: string;
}

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const gif = [...'GIF'].map((char) => char.charCodeAt(0));
const jpeg = [0xff, 0xd8, 0xff];
/** After the first three bytes of a JPEG: a lossless one, which no browser shows. */
const LOSSLESS = 0xf7;
const riff = [...'RIFF'].map((char) => char.charCodeAt(0));
const webp = [...'WEBP'].map((char) => char.charCodeAt(0));
const byteOrderMark = [0xef, 0xbb, 0xbf];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** What is blank is listed: the platform's list goes with its version of Unicode. */
const blankThenTag =
  /^[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*</;

/** The media of a file, or null where it is of no accepted type. */
export function sniff(file: Uint8Array): Media | null {
  const image = imageOf(file);
  if (image === 'gif') return { type: 'gif', media_type: 'image/gif' };
  if (image) return { type: 'image', media_type: `image/${image}` };
  return isPlainText(file) ? { type: 'text', media_type: 'text/plain; charset=utf-8' } : null;
}

/** By the first bytes, after a byte order mark if there is one: no other byte is looked at. */
function imageOf(file: Uint8Array): 'png' | 'jpeg' | 'webp' | 'gif' | null {
  let from = 0;
  while (has(file, byteOrderMark, from)) from += byteOrderMark.length;
  if (has(file, gif, from)) return 'gif';
  if (has(file, png, from)) return 'png';
  if (has(file, jpeg, from) && file[from + jpeg.length] !== LOSSLESS) return 'jpeg';
  return has(file, riff, from) && has(file, webp, from + 8) ? 'webp' : null;
}

const has = (file: Uint8Array, bytes: readonly number[], from: number): boolean =>
  bytes.every((byte, index) => file[from + index] === byte);

/** Text that no browser would take for markup: the first visible character is not `<`. */
function isPlainText(file: Uint8Array): boolean {
  if (file.length === 0) return false;
  try {
    const text = decoder.decode(file);
    return !control.test(text) && !blankThenTag.test(text);
  } catch {
    return false;
  }
}
