/** Raw requests for the differential run. differences.ts lists the allowed differences. */
import { bodies } from './catalogue-bodies.js';
import { forms } from './catalogue-forms.js';
import { framings, heads } from './catalogue-heads.js';
import { requestLines, targetLines } from './catalogue-lines.js';
import { upgrades } from './catalogue-sockets.js';
import { HOST, post, type RawCase, REGISTER, rawCase, sized } from './raw-case.js';

const several: RawCase[] = [
  {
    name: 'cut behind its target',
    bytes: Buffer.from('GET /healthz '),
    later: Buffer.from(`HTTP/1.1\r\n${HOST}\r\n\r\n`),
  },
  {
    name: 'a head in two segments, length 0',
    bytes: Buffer.from(`POST /healthz HTTP/1.1\r\n${HOST}\r\n`),
    later: Buffer.from('Content-Length: 0\r\n\r\n'),
  },
  {
    name: 'cut in a header',
    bytes: Buffer.from('GET /healthz HTTP/1.1\r\nHo'),
    later: Buffer.from('st: 127.0.0.1\r\n\r\n'),
  },
  rawCase(
    'refused, and another',
    post(REGISTER, 'Transfer-Encoding: chunked'),
    `0\r\n\r\nGET /healthz HTTP/1.1\r\n${HOST}\r\n\r\n`,
  ),
];

export const catalogue: readonly RawCase[] = [
  ...several,
  ...requestLines,
  ...targetLines,
  ...heads,
  ...framings,
  ...bodies,
  ...forms.map(({ name, type, body }) =>
    rawCase(
      `form ${name}`,
      post('/api/v1/social/memes', `Content-Type: ${type}`, sized(body)),
      body,
    ),
  ),
  ...upgrades.map(({ name, lines }) => rawCase(`upgrade ${name}`, lines)),
];
