/** Meme forms, as libraries write them or broken at any byte. */
import { type Agent, jcs, sha256 } from '../../support/service/signer.js';
import type { Rng } from './rng.js';
import { type Signing, signatureOf, stampOf } from './signing.js';
import { flipped } from './values.js';

interface Form {
  headers: [string, string][];
  body: Buffer;
}

type Field = [name: string, value: string];

const files = [
  ...['GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;', '\u0089PNG\r\n\u001a\n....'],
  ...['RIFF....WEBPVP8 ', '\u00ff\u00d8\u00ff\u00e0..JFIF', 'a plain text', ''],
  'PK\u0003\u0004..............',
];

/** Draws a form with its headers. */
export function drawnForm(rng: Rng, by: Agent, signing: Signing, near: boolean): Form {
  const boundary = rng.pick(['a-boundary', '----x', 'v', "a'b", `b${rng.hex(40)}`]);
  const file = rng.once(3)
    ? rng.bytes(rng.size(4_000))
    : Buffer.from(`${rng.pick(files)}${rng.hex(8)}`, 'latin1');
  const timestamp = stampOf(rng, signing);
  const caption = rng.text(rng.size(near ? 400 : 280));
  const tags = Array.from({ length: rng.int(near ? 14 : 5) }, () => `t${rng.hex(6)}`);
  const text = { caption, content_sha256: sha256(file), tags, timestamp };
  const signature = signatureOf(rng, by, `agentnet-v1-meme\n${jcs(text)}`, signing);
  const fields: Field[] = [
    ['caption', caption],
    ...tags.map((tag): Field => ['tags', tag]),
    ...(signing === 'none' ? [] : [['signature', signature] satisfies Field]),
  ];
  const body = bytesOf(boundary, fields, file);
  const type = `multipart/form-data; boundary=${boundary}`;
  const headers: [string, string][] = [['X-Timestamp', timestamp]];
  if (!near) return { headers: [...headers, ['Content-Type', type]], body };
  const broken = rng.pick(breaks)(rng, body, boundary);
  const said = rng.once(5) ? rng.pick(types)(boundary) : type;
  return { headers: [...headers, ['Content-Type', said]], body: broken };
}

const disposition = 'Content-Disposition: form-data; name=';

function bytesOf(boundary: string, fields: readonly Field[], file: Buffer): Buffer {
  const parts = fields.map(([a, b]) => `--${boundary}\r\n${disposition}"${a}"\r\n\r\n${b}\r\n`);
  const head = `--${boundary}\r\n${disposition}"meme_file"; filename="m"\r\n\r\n`;
  const texts = Buffer.from(parts.join('') + head);
  return Buffer.concat([texts, file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

const types: readonly ((boundary: string) => string)[] = [
  () => 'multipart/form-data',
  () => 'multipart/form-data; boundary=',
  (boundary) => `multipart/form-data; boundary="${boundary}"`,
  (boundary) => `multipart/form-data; charset=utf-8; boundary=${boundary}`,
  (boundary) => `multipart/mixed; boundary=${boundary}`,
  (boundary) => `multipart/form-data; boundary=${boundary}${'x'.repeat(300)}`,
  (boundary) => `multipart/form-data; boundary=other; boundary=${boundary}`,
  (boundary) => `Multipart/Form-Data; BOUNDARY=${boundary}`,
  (boundary) => `multipart/form-data; boundary*=utf-8''${boundary}`,
  () => 'application/x-www-form-urlencoded',
];

type Break = (rng: Rng, body: Buffer, boundary: string) => Buffer;

const breaks: readonly Break[] = [
  (rng, body) => body.subarray(0, rng.int(body.length)),
  (rng, body) => flipped(body, rng),
  (rng, body) => {
    const at = rng.int(body.length);
    const more = rng.pick(['\r', '\n', '\r\n', '--', '\u0000', '"', ';', '\r\n\r\n', 'x']);
    return Buffer.concat([body.subarray(0, at), Buffer.from(more), body.subarray(at)]);
  },
  (rng, body) => {
    const at = rng.int(body.length);
    const left = body.subarray(at + 1 + rng.int(40));
    return Buffer.concat([body.subarray(0, at), left]);
  },
  (_, body) => body.subarray(0, -4),
  (_, __, boundary) => Buffer.from(`--${boundary}\r\n--${boundary}--`),
  (_, __, boundary) => Buffer.from(`--${boundary}--`),
  (_, __, boundary) => Buffer.from(`--${boundary}`),
  () => Buffer.from('\r\n'),
  // Unterminated parts, and more parts than the parser reads.
  (rng, _, boundary) => unending(boundary, rng.pick([1, 31, 32, 33, 34, 500])),
  (rng, body, boundary) => Buffer.concat([unending(boundary, 1 + rng.int(60)), body]),
  (rng, body) => Buffer.from(body.toString('latin1').replaceAll(...rng.pick(swaps)), 'latin1'),
  (rng, body, boundary) => {
    const header = `X-Long: ${'x'.repeat(rng.pick([100, 9_000, 60_000]))}\r\n`;
    const many = header.repeat(rng.pick([1, 2, 3]));
    return Buffer.concat([Buffer.from(`--${boundary}\r\n${many}\r\nvalue\r\n`), body]);
  },
  (rng, body) => Buffer.concat(new Array<Buffer>(1 + rng.int(9)).fill(body)),
  (rng) => rng.bytes(1 + rng.int(3_000)),
];

const swaps: readonly [string, string][] = [
  ['\r\n', '\n'],
  ['"', ''],
  ['form-data', 'attachment'],
  ['name="', "name*=utf-8''\""],
  ['name="', 'x="'],
  ['filename="m"', 'filename="../../m\u0000"'],
  ['filename="m"', 'filename=""'],
  ['meme_file', 'caption'],
  ['signature', 'meme_file'],
  ['Content-Disposition', 'Content-Type'],
  [': form-data', ':'],
  ['\r\n\r\n', '\r\n'],
];

const unending = (boundary: string, parts: number) =>
  Buffer.from(`--${boundary}\r\n${disposition}"a"\r\n\r\nb\r\n`.repeat(parts));
