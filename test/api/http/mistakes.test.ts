/** Common signing mistakes. Both a 401 and debug/verify name the mistake. */
import { oneTransport, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  type Fields,
  jcs,
  meme,
  propose,
  type Request,
  register,
  sha256,
  signed,
  vote,
} from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const HASH = 'a'.repeat(64);
/** Signs a changed text. */
const signing = (by: Agent, change: (text: string) => string): Agent => ({
  ...by,
  sign: (text) => by.sign(change(text)),
});
const line = (number: number, change: (text: string) => string) => (text: string) =>
  text
    .split('\n')
    .map((one, index) => (index === number ? change(one) : one))
    .join('\n');

const BODY = '{"status":"active"}';
const put = (by: Agent, body = BODY, query = '') =>
  signed(by, 'PUT', `/api/v1/agents/${by.agentId}/status${query}`, body);

const signingLine = (by: Agent, number: number, change: (text: string) => string) =>
  signing(by, line(number, change));
const pathOf = (target: string) => target.split('?')[0]!;
const signingBody = (by: Agent, body: string) => signingLine(by, 4, () => sha256(body));

type Case = [string, string, (by: Agent, host: string) => Request];
const ofHeader: Case[] = [
  ['target', 'without its query', (by) => put(signingLine(by, 2, pathOf), BODY, '?a=1')],
  ['target', 'without /api/v1', (by) => put(signingLine(by, 2, (t) => t.replace('/api/v1', '')))],
  ['target', 'as a URL', (by, host) => put(signingLine(by, 2, (t) => `http://${host}${t}`))],
  ['body_newline', 'signed only', (by) => put(signingBody(by, `${BODY}\n`))],
  ['body_newline', 'sent only', (by) => put(signingBody(by, BODY), `${BODY}\n`)],
  ['body_not_hashed', '', (by) => put(signingLine(by, 4, () => BODY))],
  ['timestamp', 'in milliseconds', (by) => put(signingLine(by, 3, (t) => `${Date.parse(t)}`))],
  [
    'timestamp',
    'in seconds',
    (by) => put(signingLine(by, 3, (t) => `${Math.trunc(Date.parse(t) / 1000)}`)),
  ],
  ['timestamp', 'no fraction', (by) => put(signingLine(by, 3, (t) => t.replace(/\.\d+Z/, 'Z')))],
];
const ofAny: [string, string, (text: string) => string][] = [
  ['prefix_missing', '', (text) => text.slice(text.indexOf('\n') + 1)],
  ['trailing_newline', '', (text) => `${text}\n`],
  ['digest_signed', 'as hex', (text) => sha256(text)],
];
const afterPrefix = (change: (members: Fields) => string) => (text: string) => {
  const at = text.indexOf('\n') + 1;
  return text.slice(0, at) + change(JSON.parse(text.slice(at)));
};
const ofJson: [string, string, (text: string) => string][] = [
  [
    'json_not_canonical',
    'with blanks',
    afterPrefix((m) => JSON.stringify(m).replaceAll(/([:,])(["[])/g, '$1 $2')),
  ],
  ['signature_member', 'empty', afterPrefix((m) => jcs({ ...m, signature: '' }))],
  ['timestamp', 'left out', afterPrefix(({ timestamp: _, ...m }) => jcs(m))],
];

describe.each(oneTransport)('mistakes over %s', (transport) => {
  const begin = async () => {
    const there = await world({ transport });
    const ada = await there.join('Ada');
    /** Expects the same mistake from both endpoints. */
    const expectMistake = async (request: Request, mistake: string) => {
      const answer = await there.send(request);
      expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
      expect(answer.error.details.mistake, answer.error.message).toBe(mistake);
      const { method, path: target, headers, body } = request;
      const host = { ...headers, Host: new URL(there.url).host };
      const envelope = { method, target, headers: host, body: Buffer.from(body).toString() };
      const headersOf = { 'Content-Type': 'application/json' };
      const path = '/api/v1/debug/verify';
      const asked = { method: 'POST', path, headers: headersOf, body: JSON.stringify(envelope) };
      expect(await there.do(asked, 200)).toMatchObject({ valid: false, mistake });
    };
    return { there, ada, host: new URL(there.url).host, expectMistake };
  };

  test.each(ofHeader)('status: names the mistake %s %s', async (mistake, _, of) => {
    const { ada, host, expectMistake } = await begin();
    await expectMistake(of(ada, host), mistake);
  });

  test.each(ofAny)('every kind: names the mistake %s %s', async (mistake, _, change) => {
    const { ada, expectMistake } = await begin();
    const by = signing(ada, change);
    await expectMistake(vote(by, { block_hash: HASH }), mistake);
    await expectMistake(put(by), mistake);
    await expectMistake(meme(by, { file: 'Hi' }), mistake);
    const fresh = agentOf('New');
    await expectMistake(register({ ...fresh, sign: signing(fresh, change).sign }), mistake);
  });

  test.each(ofJson)('vote and proposal: names the mistake %s %s', async (mistake, _, change) => {
    const { ada, expectMistake } = await begin();
    await expectMistake(vote(signing(ada, change), { block_hash: HASH }), mistake);
    await expectMistake(propose(signing(ada, change), { parent_hash: HASH }), mistake);
  });

  test('meme: names a caption with other line ends, and tags with brackets', async () => {
    const { ada, expectMistake } = await begin();
    const crlf = afterPrefix((m) => jcs({ ...m, caption: 'a\nb' }));
    await expectMistake(
      meme(signing(ada, crlf), { file: 'Hi', caption: 'a\r\nb' }),
      'caption_line_ends',
    );
    const lf = afterPrefix((m) => jcs({ ...m, caption: 'a\r\nb' }));
    await expectMistake(
      meme(signing(ada, lf), { file: 'Hi', caption: 'a\nb' }),
      'caption_line_ends',
    );
    for (const name of ['tags[]', 'tags[0]']) {
      const sent = meme(ada, { file: 'Hi', tags: ['b'] });
      const body = Buffer.from(Buffer.from(sent.body).toString().replace('"tags"', `"${name}"`));
      await expectMistake({ ...sent, body }, 'tags_field');
    }
  });

  test('vote: names unsorted members', async () => {
    const { ada, expectMistake } = await begin();
    const fields = { timestamp: new Date().toISOString(), decision: 'approve', block_hash: HASH };
    const sign = (text: string) => ada.sign(text);
    const unsorted = sign(`agentnet-v1-vote\n${JSON.stringify(fields)}`);
    const request = vote(ada, { block_hash: HASH });
    const body = JSON.stringify({ ...fields, signature: unsorted });
    await expectMistake({ ...request, body }, 'json_not_canonical');
  });
});
