/** WebSocket frames, as little of them as counting needs (RFC 6455, 5.2). */
import type { Socket } from 'node:net';

const TEXT = 0x81;
const MASKED = 0x80;
/** Lengths up to 125 stand in the second byte; 126 and 127 say that two or eight bytes follow. */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

/** A short text as one masked frame; a mask of zeros changes nothing. */
export function say(socket: Socket, text: string): void {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt8(TEXT, 0);
  head.writeUInt8(MASKED | IN_TWO_BYTES, 1);
  head.writeUInt16BE(payload.length, 2);
  socket.write(Buffer.concat([head, payload]));
}

/** Calls back for each text frame that has arrived whole, and drops it. */
export function frames(onText: () => void): (chunk: Buffer) => void {
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

/** Head and payload; null while the head is not there. */
function frameSize(data: Buffer, at: number): number | null {
  if (data.length < at + 2) return null;
  const short = data[at + 1]!;
  if (short < IN_TWO_BYTES) return 2 + short;
  if (short < IN_EIGHT_BYTES) return data.length < at + 4 ? null : 4 + data.readUInt16BE(at + 2);
  return data.length < at + 10 ? null : 10 + Number(data.readBigUInt64BE(at + 2));
}
