/**
 * Lines of a byte stream, ended by LF alone: node:readline also ends them at CR and, in newer
 * versions, at characters that JSON text may hold.
 */
import { StoreError } from '../store/store.js';

/** Characters of the longest line: no entry, with all that it did, has as many. */
const MOST_CHARACTERS = 64 * 1_048_576;

/**
 * The lines of a stream of UTF-8. The last line needs no LF; bytes that are not UTF-8 become
 * U+FFFD.
 *
 * @throws {StoreError} `CORRUPT` for a line of more than 64 Mi characters.
 */
export async function* splitLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    // Only the new text is searched: a long line is not gone through again with each chunk.
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    if (rest.length > MOST_CHARACTERS) {
      const why = `a line has more than ${MOST_CHARACTERS} characters`;
      throw new StoreError('CORRUPT', `${why}; expected one entry a line`);
    }
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
