/** Texts as bytes. Pure, and safe in a browser. */

const encoder = new TextEncoder();

/** Short texts share memory: an ArrayBuffer for each takes three times as long as the text does. */
const SHARED_BYTES = 8 * 1024;
const LONGEST = 1024;
let shared = new Uint8Array(0);
let used = 0;

/** UTF-8. */
export function utf8(text: string): Uint8Array {
  if (text.length > LONGEST) return encoder.encode(text);
  // It takes three bytes for a UTF-16 unit at most.
  if (shared.length - used < 3 * text.length) {
    shared = new Uint8Array(SHARED_BYTES);
    used = 0;
  }
  const start = used;
  used += encoder.encodeInto(text, shared.subarray(start)).written;
  return shared.subarray(start, used);
}
