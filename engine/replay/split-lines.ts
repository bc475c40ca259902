/**
 * Lines of a byte stream, ended by LF alone: node:readline also ends them at CR and, in newer
 * versions, at characters that JSON text may hold.
 */

/**
 * The lines of a stream of UTF-8. The last line needs no LF; bytes that are not UTF-8 become
 * U+FFFD.
 */
export async function* splitLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
