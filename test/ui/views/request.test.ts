/** Requests as people paste them into the doctor. */
import { expect, test } from 'vitest';
import { parseRequest } from '../../../ui/views/doctor-request.js';

const vote = {
  method: 'POST',
  target: '/api/v1/consensus/vote',
  headers: { 'X-Agent-Public-Key': 'ab', 'Content-Type': 'application/json' },
  body: '{"decision":"approve","reason":"it\'s $5"}',
};

const raw = `POST /api/v1/consensus/vote HTTP/1.1\r
X-Agent-Public-Key: ab\r
Content-Type: application/json\r
\r
${vote.body}`;

const curl = `curl -sS -X POST "http://127.0.0.1:8080/api/v1/consensus/vote" \\
  -H 'X-Agent-Public-Key: ab' -H "Content-Type: application/json" \\
  --data-raw '{"decision":"approve","reason":"it'\\''s $5"}'`;

test.each([
  ['raw HTTP', raw],
  ['curl', curl],
  ['JSON', JSON.stringify(vote)],
  ['JSON with a body that is an object', JSON.stringify({ ...vote, body: JSON.parse(vote.body) })],
])('doctor: reads %s', (_, pasted) => {
  expect(parseRequest(pasted)).toEqual(vote);
});

test('doctor: a curl command without a method is what curl makes of it', () => {
  expect(parseRequest('curl http://x/api/v1/meta')).toMatchObject({ method: 'GET', body: '' });
  expect(parseRequest("curl http://x/a -d '{}'")).toMatchObject({ method: 'POST', body: '{}' });
});

test.each([
  ['{"method":"POST"}', 'method, target, headers and body'],
  ['{', 'not JSON'],
  ['hello', 'The first line'],
  ['POST /x\nno colon', 'no header'],
  ["curl 'http://x", 'not closed'],
  ['curl -X POST', 'no address'],
  ['curl http://x -d @body.json', 'paste it'],
  [`POST /${'x'.repeat(7 * 1024 * 1024)}`, 'longer than any request'],
])('doctor: says what is wrong with %j', (pasted, words) => {
  expect(parseRequest(pasted)).toContain(words);
});
