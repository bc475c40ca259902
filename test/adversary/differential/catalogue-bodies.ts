/** Bodies and media types for the differential run: unusual, invalid, and ordinary. */
import { JSON_TYPE, post, type RawCase, REGISTER, rawCase, sized } from './raw-case.js';

const texts = [
  ...[
    '',
    '{',
    '{}',
    '[]',
    'null',
    '1',
    '"x"',
    '{}{}',
    '{"a":1,"a":2}',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '\ufeff{}',
  ],
  ...[
    '{"__proto__":1}',
    '{"a":1e999}',
    '{"a":NaN}',
    '{"a":"\\ud800"}',
    '{"a":"\u0000"}',
    `${'['.repeat(17)}${']'.repeat(17)}`,
  ],
  ...[
    '{"public_key":1}',
    '{"public_key":""}',
    `{"public_key":"${'0'.repeat(64)}"}`,
    '//',
    '{}//',
    ' {} ',
  ],
];
const types = [
  ...['text/plain', '', 'application/json', 'application/JSON; charset=utf-8'],
  ...['application/json, text/plain', '*/*', 'x'],
];

export const bodies: RawCase[] = [
  ...texts.map((text) =>
    rawCase(`body ${text.slice(0, 30)}`, post(REGISTER, JSON_TYPE, sized(text)), text),
  ),
  ...texts.map((text) =>
    rawCase(
      `vote ${text.slice(0, 30)}`,
      post('/api/v1/consensus/vote', JSON_TYPE, sized(text)),
      text,
    ),
  ),
  ...texts.map((text) =>
    rawCase(
      `verify ${text.slice(0, 30)}`,
      post('/api/v1/debug/verify', JSON_TYPE, sized(text)),
      text,
    ),
  ),
  ...types.map((type) =>
    rawCase(`type ${type}`, post(REGISTER, `Content-Type: ${type}`, sized('{}')), '{}'),
  ),
  rawCase('no type', post(REGISTER, sized('{}')), '{}'),
  rawCase('two types', post(REGISTER, JSON_TYPE, 'Content-Type: text/plain', sized('{}')), '{}'),
  rawCase(
    'bad UTF-8',
    post(REGISTER, JSON_TYPE, 'Content-Length: 9'),
    Buffer.from('7b2261223a22ff227d', 'hex'),
  ),
  rawCase('too long, promised', post(REGISTER, JSON_TYPE, 'Content-Length: 3000000')),
];
