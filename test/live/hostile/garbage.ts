/** Invalid bytes, drawn in pieces for one connection. */

type Draw = (below: number) => number;
type Piece = Uint8Array | string;

/** Draws random bytes. */
function bytesOfChance(draw: Draw, most: number): Buffer {
  return Buffer.from(Array.from({ length: 1 + draw(most) }, () => draw(256)));
}

const words = ['{', '}', '[', ']', '"', ':', ',', '\\u0000', '1e999', 'null', 'ä', '"type"', ' '];

/** Draws text made of JSON fragments. */
export function textOf(draw: Draw, most: number): Buffer {
  const parts = Array.from({ length: 1 + draw(most) }, () => words[draw(words.length)]!);
  return Buffer.from(parts.join(''));
}

const line = 'HTTP/1.1\r\nHost: localhost\r\n';
const vote = `POST /api/v1/consensus/vote ${line}`;

const withBody = (head: string, body: Uint8Array, length = body.length): Piece[] => [
  `${head}Content-Length: ${length}\r\n\r\n`,
  body,
];

const upgrade =
  `GET /ws/v1 ${line}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Builds a client frame with a zero mask. */
function frame(opcode: number, payload: Uint8Array): Buffer {
  const head = Buffer.from([opcode, 0xfe, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}

export const garbage: readonly ((draw: Draw) => Piece[])[] = [
  (draw) => [bytesOfChance(draw, 2_000)],
  () => ['\r\n\r\n\r\n'],
  () => [Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])],
  (draw) => [`GET /${bytesOfChance(draw, 300).toString('hex')} ${line}\r\n`],
  (draw) => [Buffer.concat([Buffer.from('GET /'), bytesOfChance(draw, 300)]), ` ${line}\r\n`],
  () => [`GET /api/v1/blocks?limit=%ff&cursor=%00 ${line}\r\n`],
  (draw) => [`GET /api/v1/events?after=${draw(9)}e9&limit=-1 ${line}\r\n`],
  (draw) => [`${vote}X-Long: ${'x'.repeat(draw(40_000))}\r\n\r\n`],
  (draw) => [`${vote}${'X-Many: 1\r\n'.repeat(draw(400))}\r\n`],
  (draw) => withBody(vote, textOf(draw, 2_000)),
  (draw) => withBody(vote, bytesOfChance(draw, 5_000)),
  // The declared length is above or below the sent length.
  (draw) => withBody(vote, textOf(draw, 100), 60_000),
  (draw) => withBody(vote, textOf(draw, 100), 3),
  () => [`${vote}Content-Length: 999999999999999\r\n\r\n`, 'x'],
  () => [`${vote}Content-Length: -1\r\n\r\n`, '{}'],
  () => [`${vote}Content-Length: 2\r\nContent-Length: 3\r\n\r\n`, '{} '],
  () => [`${vote}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`, '0\r\n\r\n'],
  () => [`${vote}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n{}\r\n'],
  () => [`${vote}Transfer-Encoding: chunked\r\n\r\n`, 'ffffffffffffffff\r\n{}'],
  () => [`${vote}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`, '{}'],
  (draw) =>
    withBody(
      `POST /api/v1/social/memes ${line}Content-Type: multipart/form-data; boundary=a\r\n`,
      Buffer.concat([
        Buffer.from('--a\r\nContent-Disposition: form-data'),
        bytesOfChance(draw, 900),
      ]),
    ),
  (draw) => withBody(`POST /api/v1/blocks/propose ${line}`, Buffer.alloc(draw(3_000_000), '[')),
  (draw) => [upgrade, bytesOfChance(draw, 500)],
  (draw) => [upgrade, frame(0x81, textOf(draw, 200)), frame(0x82, bytesOfChance(draw, 200))],
  (draw) => [upgrade, frame(0x80 + draw(16), bytesOfChance(draw, 100))],
  () => [upgrade, frame(0x01, Buffer.from('{"type":')), frame(0x01, Buffer.from('never ended'))],
  () => [upgrade, Buffer.from([0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255])],
  () => [`GET /ws/v1 ${line}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
  () => [`GET /nowhere ${line}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  () => [`CONNECT localhost:1 ${line}\r\n`],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
];
