import { limits } from '../../../dist/engine/protocol/limits.js';
import { PageError, type PageProblem } from '../../../ui/messages.js';
import { encodeRequest, parseRequest } from '../../../ui/views/doctor-request.js';

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
])('doctor: parses %s', (_, pasted) => {
  expect(parseRequest(pasted)).toEqual(vote);
});

test('doctor: infers the method of a curl command from its body', () => {
  expect(parseRequest('curl http://x/api/v1/meta')).toMatchObject({ method: 'GET', body: '' });
  expect(parseRequest("curl http://x/a -d '{}'")).toMatchObject({ method: 'POST', body: '{}' });
});

/** Returns the problem that parsing reports; null for a valid request. */
function problemOf(pasted: string): PageProblem | null {
  try {
    parseRequest(pasted);
    return null;
  } catch (error) {
    if (error instanceof PageError) return error.problem;
    throw error;
  }
}

test.each<[PageProblem, string]>([
  ['REQUEST_INCOMPLETE', '{"method":"POST"}'],
  ['REQUEST_NOT_JSON', '{'],
  ['REQUEST_LINE_INVALID', 'hello'],
  ['HEADER_INVALID', 'POST /x\nno colon'],
  ['QUOTE_OPEN', "curl 'http://x"],
  ['ADDRESS_MISSING', 'curl -X POST'],
  ['ADDRESS_INVALID', 'curl http://['],
  ['BODY_IN_FILE', 'curl http://x -d @body.json'],
  ['REQUEST_TOO_LONG', `POST /${'x'.repeat(limits.describedRequestBytes)}`],
])('doctor: reports %s', (problem, pasted) => {
  expect(problemOf(pasted)).toBe(problem);
});

test('doctor: sends what the server reads, counted in bytes of JSON', () => {
  const request = { ...parseRequest(raw), body: '' };
  const room = limits.describedRequestBytes - encodeRequest(request).length;
  expect(encodeRequest({ ...request, body: 'x'.repeat(room) })).toHaveLength(
    limits.describedRequestBytes,
  );
  for (const body of ['x'.repeat(room + 1), '"'.repeat(room / 2 + 1), 'ä'.repeat(room / 2 + 1)]) {
    expect(() => encodeRequest({ ...request, body })).toThrow(PageError);
  }
});
