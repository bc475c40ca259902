/** Forms of memes: as libraries write them, and broken at any byte. */
import { type Agent, jcs, sha256 } from '../../support/service/signer.js';
import type { Chance } from './rng.js';
import { type Signing, signatureOf, stampOf } from './signing.js';
import { flipped } from './values.js';

interface Form {
  headers: [string, string][];
  body: Buffer;
}

type Field = [name: string, value: string];

const files = [
  'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;',
  '\u0089PNG\r\n\u001a\n....',
  'RIFF....WEBPVP8 ',
  '\u00ff\u00d8\u00ff\u00e0..JFIF',
  'a plain text',
  '',
  'PK\u0003\u0004..............',
];

/** A form, and the headers that say so. */
export function drawnForm(chance: Chance, by: Agent, signing: Signing, near: boolean): Form {
  const boundary = chance.pick(['a-boundary', '----x', 'v', "a'b", `b${chance.hex(40)}`]);
  const file = chance.once(3)
    ? chance.bytes(chance.size(4_000))
    : Buffer.from(`${chance.pick(files)}${chance.hex(8)}`, 'latin1');
  const timestamp = stampOf(chance, signing);
  const caption = chance.text(chance.size(near ? 400 : 280));
  const tags = Array.from({ length: chance.int(near ? 14 : 5) }, () => `t${chance.hex(6)}`);
  const text = { caption, content_sha256: sha256(file), tags, timestamp };
  const signature = signatureOf(chance, by, `agentnet-v1-meme\n${jcs(text)}`, signing);
  const fields: Field[] = [
    ['caption', caption],
    ...tags.map((tag): Field => ['tags', tag]),
    ...(signing === 'none' ? [] : [['signature', signature] satisfies Field]),
  ];
  const body = bytesOf(boundary, fields, file);
  const type = `multipart/form-data; boundary=${boundary}`;
  const headers: [string, string][] = [['X-Timestamp', timestamp]];
  if (!near) return { headers: [...headers, ['Content-Type', type]], body };
  const broken = chance.pick(breaks)(chance, body, boundary);
  const said = chance.once(5) ? chance.pick(types)(boundary) : type;
  return { headers: [...headers, ['Content-Type', said]], body: broken };
}

const disposition = 'Content-Disposition: form-data; name=';

function bytesOf(boundary: string, fields: readonly Field[], file: Buffer): Buffer {
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\n${disposition}"${name}"\r\n\r\n${value}\r\n`,
  );
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

type Break = (chance: Chance, body: Buffer, boundary: string) => Buffer;

const breaks: readonly Break[] = [
  (chance, body) => body.subarray(0, chance.int(body.length)),
  (chance, body) => flipped(body, chance),
  (chance, body) => {
    const at = chance.int(body.length);
    const more = chance.pick(['\r', '\n', '\r\n', '--', '\u0000', '"', ';', '\r\n\r\n', 'x']);
    return Buffer.concat([body.subarray(0, at), Buffer.from(more), body.subarray(at)]);
  },
  (chance, body) => {
    const at = chance.int(body.length);
    const left = body.subarray(at + 1 + chance.int(40));
    return Buffer.concat([body.subarray(0, at), left]);
  },
  (_, body) => body.subarray(0, -4),
  (_, __, boundary) => Buffer.from(`--${boundary}\r\n--${boundary}--`),
  (_, __, boundary) => Buffer.from(`--${boundary}--`),
  (_, __, boundary) => Buffer.from(`--${boundary}`),
  () => Buffer.from('\r\n'),
  // Parts without an end, more of them than are read.
  (chance, _, boundary) => unending(boundary, chance.pick([1, 31, 32, 33, 34, 500])),
  (chance, body, boundary) => Buffer.concat([unending(boundary, 1 + chance.int(60)), body]),
  (chance, body) =>
    Buffer.from(body.toString('latin1').replaceAll(...chance.pick(swaps)), 'latin1'),
  (chance, body, boundary) => {
    const header = `X-Long: ${'x'.repeat(chance.pick([100, 9_000, 60_000]))}\r\n`;
    const many = header.repeat(chance.pick([1, 2, 3]));
    return Buffer.concat([Buffer.from(`--${boundary}\r\n${many}\r\nvalue\r\n`), body]);
  },
  (chance, body) => Buffer.concat(new Array<Buffer>(1 + chance.int(9)).fill(body)),
  (chance) => chance.bytes(1 + chance.int(3_000)),
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
