/** Request bytes, framed correctly or incorrectly. */
import type { Drawn } from './requests.js';
import type { Rng } from './rng.js';
import { flipped } from './values.js';

export interface Framed {
  /** Pieces sent in order, each in a separate segment. */
  pieces: Buffer[];
  /** True if the request must reach the gate, so that the response must be documented. */
  sound: boolean;
  /** True if the server may wait for more bytes. */
  unfinished: boolean;
}

function headOf({ method, target, headers }: Drawn, more: readonly string[]): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, ...more];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Frames a request correctly. */
export function framed(drawn: Drawn): Framed {
  const { body, method } = drawn;
  const needed = body.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method);
  const length = needed ? [`Content-Length: ${body.length}`] : [];
  return { pieces: [headOf(drawn, length), body], sound: true, unfinished: false };
}

/**
 * Splits a request into segments. The first segment contains the request line, which uWebSockets.js
 * must receive whole. Heads with `Content-Length: 0` are not split (protocol.md, section 13).
 */
export function sliced(rng: Rng, { pieces, ...rest }: Framed): Framed {
  const all = Buffer.concat(pieces);
  const isEmpty = all.includes('\r\nContent-Length: 0\r\n');
  if (isEmpty) return { ...rest, pieces: [all] };
  const from = all.indexOf('\r\n') + 2;
  const cut = () => from + rng.int(all.length + 1 - from);
  const cuts = Array.from({ length: 1 + rng.int(5) }, cut);
  const at = [0, ...cuts.sort((a, b) => a - b), all.length];
  return { ...rest, pieces: at.slice(1).map((to, index) => all.subarray(at[index], to)) };
}

/** Frames a request incorrectly. The transport may refuse the request, or wait. */
export function misframed(rng: Rng, drawn: Drawn): Framed {
  return rng.pick(misframings)(rng, drawn);
}

const strange = (pieces: (Buffer | string)[], unfinished = false): Framed => ({
  pieces: pieces.map((piece) => Buffer.from(piece as Uint8Array)),
  sound: false,
  unfinished,
});

const withLines =
  (...lines: string[]) =>
  (_: Rng, drawn: Drawn): Framed =>
    strange([headOf(drawn, lines), drawn.body], true);

type Misframing = (rng: Rng, drawn: Drawn) => Framed;

const lengths: readonly Misframing[] = [
  (_, drawn) =>
    strange([headOf(drawn, [`Content-Length: ${drawn.body.length + 1}`]), drawn.body], true),
  (_, drawn) => strange([headOf(drawn, ['Content-Length: 100000']), drawn.body], true),
  (rng, drawn) => {
    const less = rng.int(drawn.body.length + 1);
    return strange([headOf(drawn, [`Content-Length: ${less}`]), drawn.body], true);
  },
  ...['-1', '0x10', '1e3', '+5', '5 5', '99999999999999999999', 'x', '', '2, 2', '007'].map(
    (value) => withLines(`Content-Length: ${value}`),
  ),
  withLines('Content-Length: 2', 'Content-Length: 2'),
  withLines('Content-Length: 2', 'Content-Length: 3'),
  withLines(),
];

const chunked = 'Transfer-Encoding: chunked';

const encodings: readonly Misframing[] = [
  (_, drawn) => {
    const size = drawn.body.length.toString(16);
    return strange([headOf(drawn, [chunked]), `${size}\r\n`, drawn.body, '\r\n0\r\n\r\n'], true);
  },
  (_, drawn) => strange([headOf(drawn, [chunked]), '2;x=5\r\n{}\r\n0\r\n\r\n'], true),
  (_, drawn) =>
    strange([headOf(drawn, [chunked]), '0\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'], true),
  (_, drawn) => strange([headOf(drawn, [chunked, 'Content-Length: 2']), '0\r\n\r\n'], true),
  ...['xchunked', 'identity', 'gzip, chunked', 'chunked, identity', 'CHUNKED', ' chunked', ''].map(
    (value) => withLines(`Transfer-Encoding: ${value}`),
  ),
];

const heads: readonly Misframing[] = [
  (rng, drawn) => strange([flipped(headOf(drawn, []), rng), drawn.body], true),
  (rng, drawn) => {
    const all = Buffer.concat(framed(drawn).pieces);
    return strange([all.subarray(0, rng.int(all.length))], true);
  },
  (_, drawn) => strange([headOf(drawn, []).toString('latin1').replaceAll('\r\n', '\n')], true),
  (_, drawn) => strange([headOf(drawn, []).toString('latin1').replace('Host: 127.0.0.1\r\n', '')]),
  (_, drawn) =>
    strange([headOf(drawn, []).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0')], true),
  (_, drawn) =>
    strange([headOf(drawn, []).toString('latin1').replace('HTTP/1.1', 'HTTP/9.9')], true),
  (_, drawn) => strange([headOf({ ...drawn, target: `http://a${drawn.target}` }, [])], true),
  (_, drawn) => strange([headOf({ ...drawn, target: '*' }, [])], true),
  (rng, drawn) => {
    const target = `${drawn.target}${rng.bytes(1 + rng.int(30)).toString('latin1')}`;
    return strange([headOf({ ...drawn, target }, []), drawn.body], true);
  },
  (rng, drawn) => withLines(`X: ${'x'.repeat(rng.pick([4_000, 9_000, 70_000]))}`)(rng, drawn),
  (rng, drawn) =>
    withLines(...new Array<string>(rng.pick([60, 101, 2_000])).fill('X: y'))(rng, drawn),
  withLines('Host: other.example'),
  withLines('X: a', ' folded'),
  withLines('X : a'),
  withLines('X\u00e9: a'),
  withLines('X: a\u0000b'),
  withLines('X: a\rb'),
  withLines(': no name'),
  withLines('no colon'),
  withLines('Expect: 100-continue', 'Content-Length: 2'),
  withLines('Connection: Upgrade', 'Upgrade: h2c'),
  withLines('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 8'),
  withLines('Connection: close'),
  withLines('Origin: http://evil.example'),
  (rng) => strange([rng.bytes(1 + rng.int(600))], true),
];

/** Sends two requests at once, the second before the response to the first. */
const pipelined: Misframing = (_, drawn) => {
  const all = Buffer.concat(framed(drawn).pieces);
  return strange([Buffer.concat([all, all])]);
};

const misframings: readonly Misframing[] = [...lengths, ...encodings, ...heads, pipelined];
