/** Heads and framings for the differential run: unusual, invalid, and ordinary. */
import { get, HOST, JSON_TYPE, post, type RawCase, REGISTER, rawCase } from './raw-case.js';

const headerLines: [name: string, ...lines: string[]][] = [
  ['two hosts', 'Host: other'],
  ['two equal hosts', HOST],
  ['a blank before the colon', 'X : a'],
  ['a tab before the colon', 'X\t: a'],
  ['a folded line', 'X: a', ' b'],
  ['a folded line with a tab', 'X: a', '\tb'],
  ['no colon', 'nothing'],
  ['no name', ': a'],
  ['a high byte in a name', 'X\u00e9: a'],
  ['a high byte in a value', 'X: \u00e9'],
  ['NUL in a name', 'X\u0000: a'],
  ['NUL in a value', 'X: a\u0000'],
  ['a control in a value', 'X: a\u0001b'],
  ['DEL in a value', 'X: \u007f'],
  ['a bare CR in a value', 'X: a\rb'],
  ['a bare LF in a value', 'X: a\nY: b'],
  ['a parenthesis in a name', '(X): a'],
  ['an underscore in a name', 'X_Y: a'],
  ['a quote in a name', 'X"Y: a'],
  ['an empty value', 'X:'],
  ['blanks around a value', 'X:   a   '],
  ['an unknown expectation', 'Expect: the-best'],
  ['100-continue', 'Expect: 100-continue'],
  ['close', 'Connection: close'],
  [
    'an upgrade to h2c',
    ...['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
    'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  ],
  ['a Trailer', 'Trailer: X'],
  ['TE', 'TE: trailers'],
  ['60 headers', ...Array.from({ length: 60 }, (_, index) => `X-${index}: y`)],
  ['101 headers', ...Array.from({ length: 101 }, (_, index) => `X-${index}: y`)],
  ['1,000 headers', ...Array.from({ length: 1_000 }, (_, index) => `X-${index}: y`)],
  ['a header of 3 KiB', `X: ${'x'.repeat(3_000)}`],
  ['a header of 5 KiB', `X: ${'x'.repeat(5_000)}`],
  ['a header of 20 KiB', `X: ${'x'.repeat(20_000)}`],
  ['an origin', 'Origin: http://evil.example'],
  ['an origin that is null', 'Origin: null'],
];

export const heads: RawCase[] = [
  ...headerLines.flatMap(([name, ...lines]) => [
    rawCase(`head: ${name}`, get('/healthz', ...lines)),
    rawCase(
      `head of a write: ${name}`,
      post(REGISTER, ...lines, JSON_TYPE, 'Content-Length: 2'),
      '{}',
    ),
  ]),
  rawCase('no host', ['GET /healthz HTTP/1.1']),
  ...[
    '',
    'other.example',
    '127.0.0.1:1',
    'localhost',
    'a b',
    '127.0.0.1, b',
    '[::1]',
    'LOCALHOST',
  ].map((host) => rawCase(`host ${host}`, ['GET /healthz HTTP/1.1', `Host: ${host}`])),
  { name: 'line feeds only', bytes: Buffer.from(`GET /healthz HTTP/1.1\n${HOST}\n\n`) },
  { name: 'a line feed first', bytes: Buffer.from(`GET /healthz HTTP/1.1\n${HOST}\r\n\r\n`) },
  { name: 'a line feed last', bytes: Buffer.from(`GET /healthz HTTP/1.1\r\n${HOST}\r\n\n`) },
];

const lengths = [
  ...['-1', '+2', '0x2', '2 ', ' 2', '2,2', '2, 2', '02', '2.0', '2e0', 'x', ''],
  ...['99999999999999999999', '1 1', '\u00b2'],
];
const encodings = [
  ...[
    'chunked',
    'Chunked',
    ' chunked',
    'chunked ',
    'xchunked',
    'identity',
    'gzip',
    'gzip, chunked',
    'chunked, gzip',
  ],
  ...['chunked, chunked', '', '"chunked"', 'chunked;q=1', '\u000bchunked', 'trailers'],
];
const chunks = '2\r\n{}\r\n0\r\n\r\n';

export const framings: RawCase[] = [
  ...[REGISTER, '/api/v1/social/memes', '/healthz', '/nothing'],
].flatMap((target) => [
  ...lengths.map((value) =>
    rawCase(
      `length ${value} at ${target}`,
      post(target, JSON_TYPE, `Content-Length: ${value}`),
      '{}',
    ),
  ),
  ...encodings.map((value) =>
    rawCase(
      `encoding ${value} at ${target}`,
      post(target, JSON_TYPE, `Transfer-Encoding: ${value}`),
      chunks,
    ),
  ),
  rawCase(
    `two equal lengths at ${target}`,
    post(target, JSON_TYPE, 'Content-Length: 2', 'Content-Length: 2'),
    '{}',
  ),
  rawCase(
    `two lengths at ${target}`,
    post(target, JSON_TYPE, 'Content-Length: 2', 'Content-Length: 3'),
    '{} ',
  ),
  rawCase(
    `length and chunks at ${target}`,
    post(target, JSON_TYPE, 'Content-Length: 2', 'Transfer-Encoding: chunked'),
    chunks,
  ),
  rawCase(
    `chunks and length at ${target}`,
    post(target, JSON_TYPE, 'Transfer-Encoding: chunked', 'Content-Length: 2'),
    chunks,
  ),
  rawCase(`no length at ${target}`, post(target, JSON_TYPE)),
  rawCase(`length 0 at ${target}`, post(target, JSON_TYPE, 'Content-Length: 0')),
  rawCase(`a body with GET at ${target}`, get(target, 'Content-Length: 2'), '{}'),
  rawCase(`chunks with GET at ${target}`, get(target, 'Transfer-Encoding: chunked'), chunks),
]);
