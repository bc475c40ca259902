/** What a meme's file is: told by its bytes, never by its sender. */
import type { MemeType } from '../schema/index.js';

export interface Media {
  type: MemeType;
  /** The type it is served with. */
  media_type: string;
}

/** An animated PNG is a PNG to everyone who can show it. */
const accepted: Record<string, Media> = {
  'image/png': { type: 'image', media_type: 'image/png' },
  'image/apng': { type: 'image', media_type: 'image/png' },
  'image/jpeg': { type: 'image', media_type: 'image/jpeg' },
  'image/webp': { type: 'image', media_type: 'image/webp' },
  'image/gif': { type: 'gif', media_type: 'image/gif' },
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** What is blank is listed: the platform's list goes with its version of Unicode. */
const blankThenTag =
  /^[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*</;

/** The media of a file, or null where it is of no accepted type. */
export async function sniff(file: Uint8Array): Promise<Media | null> {
  // Loaded with the first file: most processes never see one.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(file);
  const media = found && accepted[found.mime];
  if (media) return media;
  return isPlainText(file) ? { type: 'text', media_type: 'text/plain; charset=utf-8' } : null;
}

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
