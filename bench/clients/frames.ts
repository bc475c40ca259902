/** WebSocket text frames: builds small ones, and counts received ones without parsing them. */

const TEXT = 0x81;
const MASKED = 0x80;
/**
 * The second byte contains lengths up to 125. The values 126 and 127 mean that two or eight length
 * bytes follow.
 */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

/** Builds one masked frame of a text below 64 KiB. A zero mask leaves the text unchanged. */
export function frameText(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt8(TEXT, 0);
  head.writeUInt8(MASKED | IN_TWO_BYTES, 1);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** Calls back for each complete text frame, then drops the frame. */
export function countFrames(onText: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const size = frameSize(data, at);
      if (size === null || at + size > data.length) break;
      if (data[at] === TEXT) onText();
      at += size;
    }
    rest = data.subarray(at);
  };
}

/** Size of the head and payload; null if the head is incomplete. */
function frameSize(data: Buffer, at: number): number | null {
  if (data.length < at + 2) return null;
  const short = data[at + 1]!;
  if (short < IN_TWO_BYTES) return 2 + short;
  if (short < IN_EIGHT_BYTES) return data.length < at + 4 ? null : 4 + data.readUInt16BE(at + 2);
  return data.length < at + 10 ? null : 10 + Number(data.readBigUInt64BE(at + 2));
}
