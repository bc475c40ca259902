/** WebSocket frames, valid and invalid, and a parser for the server's frames. */
import { randomBytes } from 'node:crypto';

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameShape {
  opcode: number;
  payload: Buffer;
  final?: boolean;
  masked?: boolean;
  /** Reserved bits, 0..7. */
  reserved?: number;
  /** Length in the head (default: the actual length). */
  promised?: bigint;
}

export function frame(shape: FrameShape): Buffer {
  const { opcode, payload, final = true, masked = true, reserved = 0 } = shape;
  const length = shape.promised ?? BigInt(payload.length);
  const first = (final ? 0x80 : 0) | (reserved << 4) | opcode;
  const bit = masked ? 0x80 : 0;
  const mask = randomBytes(4);
  const body = masked ? payload.map((byte, index) => byte ^ mask[index % 4]!) : payload;
  const head = [Buffer.of(first, bit | sizeByte(length)), longer(length), masked ? mask : none];
  return Buffer.concat([...head, body]);
}

const none = Buffer.alloc(0);

const sizeByte = (length: bigint) =>
  length < 126n ? Number(length) : length < 65_536n ? 126 : 127;

function longer(length: bigint): Buffer {
  if (length < 126n) return none;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(length);
  return length < 65_536n ? bytes.subarray(6) : bytes;
}

export const textFrame = (text: string) =>
  frame({ opcode: opcodes.text, payload: Buffer.from(text) });

/**
 * Parses a frame from the server. Returns the frame and the bytes that follow it; null while
 * incomplete.
 */
export function readFrame(bytes: Buffer) {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f;
  const from = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < from) return null;
  const length =
    short === 127
      ? Number(bytes.readBigUInt64BE(2))
      : short === 126
        ? bytes.readUInt16BE(2)
        : short;
  if (bytes.length < from + length) return null;
  return {
    opcode: bytes[0]! & 15,
    payload: bytes.subarray(from, from + length),
    rest: bytes.subarray(from + length),
  };
}

/** Builds the request that opens a WebSocket. */
export const upgradeOf = (path: string, more: readonly string[] = []) =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
    '\r\n',
  ].join('\r\n');
