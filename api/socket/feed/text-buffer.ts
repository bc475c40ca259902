/**
 * Texts that are kept for a while, encoded side by side. In Node's pool each would keep eight
 * kilobytes of whatever was allocated beside it: ten times what the feed's ring holds.
 */
const BUFFER_BYTES = 64 * 1024;

export class TextBuffer {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;

  /** UTF-8 of the text; it shares its memory with those before and after it. */
  encode(text: string): Uint8Array {
    const bytes = Buffer.byteLength(text);
    if (this.#used + bytes > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, bytes));
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += this.#buffer.write(text, start);
    return this.#buffer.subarray(start, this.#used);
  }
}
