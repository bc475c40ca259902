/** Responses of a server conform to the OpenAPI document. */
import {
  carriage,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  GENESIS_HASH,
  type SignedRequest,
  targetOf,
} from 'folkmoot';
import { startServer } from 'folkmoot/api';
import { agentId, authInput, httpInput, sha256Hex } from 'folkmoot/signing';
import { expect, onTestFinished, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { signatoryOf, testNetwork } from '../../support/fixture.js';
import { connect } from '../../support/service/live.js';
import { checkResponse } from '../../support/service/openapi-check.js';

interface Answer {
  status: number;
  headers: Headers;
  json: { data?: Record<string, unknown>; error?: { details: { reason: string } } };
}

/** Starts a server whose responses are validated against the document. */
async function checkedServer(limits: 'off' | 'spec' = 'off') {
  const { network, clock } = await testNetwork({ genesis: { min_validators: 1 } });
  const options = { network, version: '0', limits, now: () => clock.now() };
  const server = await startServer(options);
  onTestFinished(() => server.close());
  async function send(method: string, target: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(server.url + target, { ...init, method });
    const { status, headers } = response;
    const body = await response.text();
    const contentType = headers.get('content-type');
    const headerNames = [...headers.keys()];
    const answer = { method, target, status, contentType, body, headerNames };
    expect(checkResponse(answer)).toEqual([]);
    return { status, headers, json: body.startsWith('{') ? JSON.parse(body) : {} };
  }
  const get = (target: string) => send('GET', target);
  const ask = (request: SignedRequest, id = '') => {
    const target = request.target || targetOf(request.kind, id);
    return send(carriage[request.kind].method, target, messageOf(request));
  };
  return { send, get, ask, wsUrl: `${server.url.replace('http', 'ws')}/ws/v1` };
}

function messageOf({ kind, public_key, timestamp, signature, body, file }: SignedRequest) {
  const headers: Record<string, string> = { 'X-Agent-Public-Key': public_key };
  if (timestamp !== '') headers['X-Timestamp'] = timestamp;
  if (kind !== 'meme') {
    headers['Content-Type'] = 'application/json';
    if (signature !== '') headers['X-Agent-Signature'] = signature;
    return { headers, body: Buffer.from(body) };
  }
  const { caption, tags } = JSON.parse(Buffer.from(body).toString());
  const form = new FormData();
  form.set('caption', caption);
  for (const tag of tags) form.append('tags', tag);
  form.set('signature', signature);
  form.set('meme_file', new Blob([Buffer.from(file!)]), 'meme');
  return { headers, body: form };
}

const [ada, bob] = [signatoryOf(1), signatoryOf(2)];
const at = (ms: number) => new Date(START_MS + ms).toISOString();
const capabilities = ['validator', 'producer'] as const;
const registration = { personality: 'lawful', name: 'Ada', capabilities };

/** Returns a response's status and reason, for the test's messages. */
const outcome = ({ status, json }: Answer) => [status, json.error?.details.reason ?? ''].join(' ');

test('responses: conform for every signed request, its repeat, and some refusals', async () => {
  const { ask, send } = await checkedServer();
  const register = composeRegister(ada, at(0), registration);
  expect(outcome(await ask(register))).toBe('201 ');
  expect(outcome(await ask(register))).toBe('200 ');
  const other = composeRegister(ada, at(0), { ...registration, name: 'Eve' });
  expect(outcome(await ask(other))).toBe('409 AGENT_EXISTS');
  await ask(composeRegister(bob, at(0), { ...registration, name: 'Bob' }));

  const id = agentId(ada.publicKey);
  expect(outcome(await ask(composeStatus(ada, at(1), id, { status: 'active' })))).toBe('200 ');
  const foreign = composeStatus(bob, at(1), id, { status: 'inactive' });
  expect(outcome(await ask(foreign))).toBe('403 NOT_OWNER');

  const meme = composeMeme(ada, at(0), { caption: 'hi', tags: ['Gm'], file: Buffer.from('gm') });
  const posted = await ask(meme);
  expect(outcome(posted)).toBe('201 ');
  expect(outcome(await ask({ ...meme, file: Buffer.from('<b>') }))).toBe('415 MEDIA_TYPE');

  const transactions = [composeTransaction(ada, 'devnet', '{"type":"pay"}', false)];
  const fields = { parent_hash: GENESIS_HASH, transactions };
  const proposed = await ask(composeProposal(ada, at(0), fields));
  expect(outcome(proposed)).toBe('201 ');
  const block_hash = String(proposed.json.data!.block_hash);
  const talk = { block_hash, message: 'well', sentiment: 'neutral' } as const;
  expect(outcome(await ask(composeDiscuss(bob, at(0), talk)))).toBe('201 ');
  const approve = { block_hash, decision: 'approve' } as const;
  const vote = { ...approve, meme_references: [String(posted.json.data!.meme_id)] };
  expect(outcome(await ask(composeVote(ada, at(0), vote)))).toBe('201 ');
  const forged = { ...composeVote(bob, at(0), approve), public_key: ada.publicKey };
  expect(outcome(await ask(forged))).toBe('401 MISMATCH');
  const late = composeVote(bob, at(-400_000), approve);
  expect(outcome(await ask(late))).toBe('401 TIMESTAMP_SKEW');
  expect(outcome(await send('DELETE', '/api/v1/blocks'))).toBe('405 METHOD');
});

test('responses: conform during the life of an alliance', async () => {
  const { ask } = await checkedServer();
  await ask(composeRegister(ada, at(0), registration));
  await ask(composeRegister(bob, at(0), { ...registration, name: 'Bob' }));
  const invited = { target_ids: [agentId(bob.publicKey)], purpose: 'peace' };
  const founded = await ask(composeAlliancePropose(ada, at(0), invited));
  expect(outcome(founded)).toBe('201 ');
  const id = String(founded.json.data!.alliance_id);
  expect(outcome(await ask(composeAllianceRespond(bob, at(0), id, true)))).toBe('200 ');
  expect(outcome(await ask(composeAllianceLeave(bob, at(0), id)))).toBe('200 ');
  expect(outcome(await ask(composeAllianceLeave(bob, at(1), id)))).toBe('403 NOT_MEMBER');
});

test('responses: conform for every read, with and without data', async () => {
  const { ask, get, send } = await checkedServer();
  await ask(composeRegister(ada, at(0), registration));
  const id = agentId(ada.publicKey);
  const file = Buffer.from('gm');
  const meme = await ask(composeMeme(ada, at(0), { caption: '', tags: [], file }));
  const data = 'x';
  const transactions = [composeTransaction(ada, 'devnet', data, false)];
  const state_diff = { additions: { 'a/b': { deep: [1] } }, deletions: {} };
  const parent_hash = GENESIS_HASH;
  const proposal = composeProposal(ada, at(0), { parent_hash, transactions, state_diff });
  const { block_hash } = (await ask(proposal)).json.data!;
  await ask(composeVote(ada, at(0), { block_hash: String(block_hash), decision: 'approve' }));

  const shown = [
    '/api/v1/network/state',
    '/api/v1/network/agents?limit=1',
    `/api/v1/agents/${id}`,
    `/api/v1/social/reputation/${id}`,
    '/api/v1/blocks?status=finalized&limit=1',
    `/api/v1/blocks/${block_hash}`,
    `/api/v1/blocks/${block_hash}/votes`,
    `/api/v1/transactions/${transactions[0]!.hash}`,
    '/api/v1/state/a%2Fb',
    '/api/v1/social/alliances',
    '/api/v1/events?topics=blocks,outcomes',
    '/api/v1/meta',
    `/api/v1/social/memes/${meme.json.data!.meme_id}/content`,
    '/metrics',
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/asyncapi.json',
    '/docs',
  ];
  for (const target of shown) expect([target, (await get(target)).status]).toEqual([target, 200]);
  const missing = {
    '/api/v1/agents/unknown': '400 SCHEMA',
    [`/api/v1/agents/agent_${'0'.repeat(32)}`]: '404 UNKNOWN_AGENT',
    '/api/v1/blocks?limit=0': '400 SCHEMA',
    '/api/v1/blocks/00': '400 SCHEMA',
    [`/api/v1/blocks/${'0'.repeat(64)}`]: '404 UNKNOWN_BLOCK',
    [`/api/v1/transactions/${'0'.repeat(64)}`]: '404 UNKNOWN_TX',
    '/api/v1/state/none': '404 UNKNOWN_KEY_NAME',
    '/api/v1/events?topics=none': '400 SCHEMA',
    '/api/v1/debug/ws/conn_0': '401 MISSING',
    '/nowhere': '404 UNKNOWN_ROUTE',
  };
  for (const [target, expected] of Object.entries(missing)) {
    expect([target, outcome(await get(target))]).toEqual([target, expected]);
  }
  const body = JSON.stringify({ method: 'POST', target: '/x', headers: {}, body: '' });
  const verify = await send('POST', '/api/v1/debug/verify', { body });
  expect(outcome(verify)).toBe('404 UNKNOWN_ROUTE');
  expect((await send('HEAD', '/api/v1/meta')).status).toBe(200);
});

test('responses: conform for each status of a posted meme that a request can cause', async () => {
  const { ask, send } = await checkedServer('spec');
  const post = (init: RequestInit) => send('POST', '/api/v1/social/memes', init);
  await ask(composeRegister(ada, at(0), registration));
  const fields = { caption: 'hi', tags: ['Gm'] };
  const meme = composeMeme(ada, at(0), { ...fields, file: Buffer.from('gm') });
  const { headers, body } = messageOf(meme);
  const seen = [
    await ask(meme),
    await ask(meme),
    await ask({ ...meme, file: Buffer.from('other') }),
    await ask(composeMeme(bob, at(0), { ...fields, file: Buffer.from('gm') })),
    await ask({ ...meme, file: Buffer.from('<b>') }),
    await post({ body }),
    await post({ headers, body: new FormData() }),
    await post({ headers: { ...headers, 'Content-Type': 'text/plain' }, body: 'x' }),
    await post({ headers: { ...headers, Origin: 'http://a.example' }, body }),
    await post({ headers, body: new Blob([Buffer.alloc(2_000_000)]) }),
    await post({ headers, body: new Blob(['x']).stream(), duplex: 'half' } as RequestInit),
  ];
  await ask(composeStatus(ada, at(1), agentId(ada.publicKey), { status: 'inactive' }));
  const later = (ms: number) =>
    ask(composeMeme(ada, at(ms), { ...fields, file: Buffer.from(`gm ${ms}`) }));
  seen.push(await later(2));
  await ask(composeStatus(ada, at(3), agentId(ada.publicKey), { status: 'active' }));
  for (let number = 0; number < 20; number += 1) seen.push(await later(10 + number));
  expect([...new Set(seen.map(outcome))].sort()).toEqual([
    '200 ',
    '201 ',
    '400 SCHEMA',
    '401 MISMATCH',
    '401 MISSING',
    '401 UNKNOWN_KEY',
    '403 NOT_ACTIVE',
    '403 WRONG_ORIGIN',
    '411 LENGTH_REQUIRED',
    '413 TOO_LARGE',
    '415 MEDIA_TYPE',
    '429 QUOTA_USED',
  ]);
});

test('responses: conform for each status of a shown connection', async () => {
  const { ask, send, wsUrl } = await checkedServer();
  for (const key of [ada, bob]) await ask(composeRegister(key, at(0), registration));
  const socket = await connect(wsUrl);
  onTestFinished(() => socket.socket.terminate());
  const timestamp = at(0);
  const signature = ada.sign(authInput(ada.publicKey, timestamp));
  socket.send({ type: 'auth', public_key: ada.publicKey, timestamp, signature });
  const target = `/api/v1/debug/ws/${(await socket.next()).data.connection_id}`;
  const read = (key: typeof ada, time: string, signed = target) => {
    const bodySha256 = sha256Hex('');
    const input = httpInput({ method: 'GET', target: signed, timestamp: time, bodySha256 });
    const headers = {
      'X-Agent-Public-Key': key.publicKey,
      'X-Timestamp': time,
      'X-Agent-Signature': key.sign(input),
    };
    return send('GET', target, { headers });
  };
  const answers = [
    await read(ada, at(0)),
    await read(bob, at(0)),
    await read(ada, at(0), '/'),
    await read(ada, at(-400_000)),
    await read(ada, 'now'),
    await read(signatoryOf(3), at(0)),
    await send('GET', target),
  ];
  expect(answers.map(outcome)).toEqual([
    '200 ',
    '404 UNKNOWN_CONNECTION',
    '401 MISMATCH',
    '401 TIMESTAMP_SKEW',
    '401 MALFORMED',
    '401 UNKNOWN_KEY',
    '401 MISSING',
  ]);
});

test('checkResponse: reports differences from the document', () => {
  const contentType = 'application/json; charset=utf-8';
  const request = { method: 'GET', target: '/healthz', status: 200, contentType };
  const good = { success: true, data: { status: 'ok' } };
  const problems = (change: object) => checkResponse({ ...request, body: good, ...change }).join();
  expect(problems({})).toBe('');
  expect(problems({ body: { ...good, more: 1 } })).toContain('must NOT have additional properties');
  expect(problems({ body: { success: true, data: { status: 'bad' } } })).toContain('/data/status');
  expect(problems({ status: 201 })).toContain('not documented');
  expect(problems({ contentType: 'text/html' })).toContain('text/html is not documented');
  expect(problems({ target: '/nowhere' })).toContain('expected 404');
  const details = { reason: 'QUOTA', request_id: '' };
  const body = { success: false, error: { code: 'INVALID_REQUEST', message: '', details } };
  const foreign = { target: '/api/v1/agents/x', status: 404, body };
  expect(problems(foreign)).toContain('/error/details/reason must be equal to one of');
});
