/** HTTP over both transports: routes, methods, bodies and headers. */

import { type CommandKind, carriage } from 'folkmoot';
import { admit } from 'folkmoot/testing';
import { clientAddress } from '../../../dist/api/limits/limits.js';
import { changed } from '../../engine/admit/admission.js';
import { testsWith } from '../../support/fixture.js';
import { transports, world } from '../../support/service/server.js';
import { agentOf, register } from '../../support/service/signer.js';
import { expectError, type World } from '../../support/service/world.js';

const json = { 'Content-Type': 'application/json' };
const REGISTER = '/api/v1/agents/register';

/** Expects the server to still answer after the test. */
function stays(there: World): void {
  onTestFinished(async () => expect((await there.get('/healthz')).status).toBe(200));
}

describe.each(transports)('http over %s', (transport) => {
  const begin = async (server = {}) => {
    const there = await world({ transport, server });
    stays(there);
    return there;
  };
  const check = testsWith(() => begin());

  check('404: answers an unknown path with the envelope', async (there) => {
    for (const path of ['/api', '/api/v1', '/api/v1/network/state/', '/api//v1/network/state']) {
      expectError(await there.get(path), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
    }
    const post = await there.send({ method: 'POST', path: '/x', headers: json, body: '{}' });
    expectError(post, 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
  });

  test.each([
    ['DELETE', '/api/v1/network/state', 'GET, HEAD, OPTIONS'],
    ['POST', '/api/v1/network/state', 'GET, HEAD, OPTIONS'],
    ['GET', REGISTER, 'POST, OPTIONS'],
    ['HEAD', REGISTER, 'POST, OPTIONS'],
    ['PATCH', '/api/v1/agents/x/status', 'PUT, OPTIONS'],
  ])('405: %s %s, Allow %s', async (method, path, allow) => {
    const there = await begin();
    const answer = await there.send({ method, path, headers: {}, body: '' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expectError(answer, 405, 'INVALID_REQUEST', 'METHOD');
  });

  check('HEAD: returns the headers of GET without a body', async (there) => {
    const get = await there.get('/api/v1/network/agents');
    const path = '/api/v1/network/agents';
    const head = await there.send({ method: 'HEAD', path, headers: {}, body: '' });
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  check('OPTIONS: answers 204 with Allow, without CORS headers by default', async (there) => {
    const answer = await there.send({ method: 'OPTIONS', path: REGISTER, headers: {}, body: '' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    const allowed = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'));
    expect(allowed).toEqual([]);
    expect((await there.get('/healthz')).headers.get('access-control-allow-origin')).toBe(null);
  });

  test('CORS: lets allowed origins read errors and limit headers', async () => {
    const there = await begin({ cors: ['https://b.example', 'https://a.example'] });
    const origin = { Origin: 'https://a.example' };
    const preflight = await there.send({
      method: 'OPTIONS',
      path: REGISTER,
      headers: { ...origin, 'Access-Control-Request-Method': 'POST' },
      body: '',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    const named = preflight.headers.get('access-control-allow-headers')!.toLowerCase();
    const allowed = ['content-type', 'traceparent', 'x-agent-public-key', 'x-agent-signature'];
    for (const name of [...allowed, 'x-timestamp']) {
      expect(named).toContain(name);
    }
    for (const path of ['/api/v1/network/state', '/api/v1/nothing']) {
      const { headers } = await there.get(path, origin);
      expect(headers.get('access-control-allow-origin')).toBe('https://a.example');
      expect(headers.get('vary')).toBe('Origin');
      const shown = headers.get('access-control-expose-headers')?.toLowerCase() ?? '';
      for (const name of [
        ...['location', 'ratelimit', 'retry-after', 'x-request-id', 'folkmoot-stale'],
        'folkmoot-unknown',
      ]) {
        expect(shown).toContain(name);
      }
    }
  });

  test('CORS: refuses writes from other origins, which can read no response', async () => {
    const there = await begin({ cors: ['https://a.example'] });
    const allowed = 'access-control-allow-origin';
    for (const Origin of ['https://a.example.evil', 'http://a.example', 'null', 'https://b']) {
      const read = await there.get('/api/v1/network/state', { Origin });
      expect([read.status, read.headers.get(allowed)]).toEqual([200, null]);
      expect(read.headers.get('vary')).toBe('Origin');
      const { headers, body } = register(agentOf('Ada'));
      const request = { method: 'POST', path: REGISTER, headers: { ...headers, Origin }, body };
      expectError(await there.send(request), 403, 'INVALID_REQUEST', 'WRONG_ORIGIN');
    }
    const own = { Origin: there.url };
    const { headers, body } = register(agentOf('Ada'));
    const request = { method: 'POST', path: REGISTER, headers: { ...headers, ...own }, body };
    expect((await there.send(request)).status).toBe(201);
  });

  test.each([
    ['text/plain'],
    ['application/jsonp'],
    ['multipart/form-data; boundary=x'],
    [''],
  ])('415: refuses the media type "%s"', async (type) => {
    const there = await begin();
    const headers = { 'Content-Type': type };
    const answer = await there.send({ method: 'POST', path: REGISTER, headers, body: '{}' });
    expectError(answer, 415, 'INVALID_REQUEST', 'MEDIA_TYPE');
  });

  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  test.each<[string, string | Uint8Array, string]>([
    ['no content', '', ''],
    ['17 levels', deep(17), '/a'],
    ['1,300 levels', deep(1_300), '/a'],
    ['a lone surrogate', '{"a":"\\ud800"}', '/a'],
    ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ''],
    ['a byte order mark', '\ufeff{}', ''],
  ])('400: JSON with %s', async (_, body, pointer) => {
    const there = await begin();
    const { headers } = register(agentOf('Ada'));
    const answer = await there.send({ method: 'POST', path: REGISTER, headers, body });
    expectError(answer, 400, 'INVALID_REQUEST', 'BAD_JSON');
    expect(String(answer.error.details.pointer)).toContain(pointer);
  });

  check('path parameters: refuses invalid escapes and ids', async (there) => {
    for (const id of ['%', '%ff', '%00', 'a%2Fb', '..%2f..', `${'x'.repeat(2000)}`, '__proto__']) {
      for (const path of ['agents', 'blocks', 'state', 'transactions', 'social/reputation']) {
        const answer = await there.get(`/api/v1/${path}/${id}`);
        const isKey = path === 'state' && ['a%2Fb', '..%2f..', '__proto__'].includes(id);
        expect([answer.status, answer.success], `${path} ${id}`).toEqual([
          isKey ? 404 : 400,
          false,
        ]);
      }
    }
  });
});

// ---- The client address behind proxies.

const trusted = new Set(['10.0.0.1', '10.0.0.2']);

test.each([
  ['the peer itself, if it is not a trusted proxy', '7.7.7.7', '1.1.1.1', '7.7.7.7'],
  ['the address that a trusted proxy reports', '10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['ignores an address that the client claimed', '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
  ['the client behind a chain of trusted proxies', '10.0.0.1', '1.1.1.1, 10.0.0.2', '1.1.1.1'],
  ['the trusted proxy itself, if it reports no address', '10.0.0.1', undefined, '10.0.0.1'],
  ['a trusted proxy with an IPv4-mapped address', '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['an address without its port', '10.0.0.1', '1.1.1.1:567', '1.1.1.1'],
  ['a trusted hop with a port', '10.0.0.1', '1.1.1.1:567, 10.0.0.2:80', '1.1.1.1'],
  ['an IPv6 address without its port', '10.0.0.1', '[2001:db8::1]:567', '2001:db8::1'],
  ['an IPv6 address without its brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['a plain IPv6 address', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['an IPv4-mapped address with a port, as IPv4', '10.0.0.1', '[::ffff:1.1.1.1]:5', '1.1.1.1'],
])('address: %s', (_, peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(expected);
});

// ---- Malformed request-targets are refused alike over HTTP and in process.

/** Starts a server with a registered key, because the target is checked after the key. */
async function server() {
  const running = await world();
  const { publicKey } = await running.join('ada');
  return Object.assign(running, { key: publicKey });
}

const agents = '/api/v1/agents';
const alliances = '/api/v1/social/alliances';
const ally = `ally_${'0'.repeat(32)}`;

test.each<[CommandKind, string, string]>([
  ['status', `${agents}/bob/status`, 'UNKNOWN_AGENT'],
  ['status', `${agents}/agent_${'A'.repeat(32)}/status`, 'UNKNOWN_AGENT'],
  ['status', `${agents}/%00/status?a=/b`, 'UNKNOWN_AGENT'],
  ['status', `${agents}//status`, 'UNKNOWN_ROUTE'],
  ['status', `${agents}/bob/now/status`, 'UNKNOWN_ROUTE'],
  ['status', `${agents}/bob/status/now`, 'UNKNOWN_ROUTE'],
  ['alliance_respond', `${alliances}/x/respond`, 'UNKNOWN_ALLIANCE'],
  ['alliance_respond', `${alliances}/x/y/respond`, 'UNKNOWN_ROUTE'],
  ['alliance_respond', `${alliances}/${ally}/answer`, 'UNKNOWN_ROUTE'],
  ['alliance_leave', `${alliances}/${ally}x/leave`, 'UNKNOWN_ALLIANCE'],
  ['alliance_leave', `${alliances}//leave`, 'UNKNOWN_ROUTE'],
  ['alliance_leave', `${alliances}/${ally}/leave/`, 'UNKNOWN_ROUTE'],
])('targets: %s at %s is %s', async (kind, target, reason) => {
  const { url, network, key } = await server();
  const timestamp = new Date().toISOString();
  const request = { ...changed(kind, {}), target, timestamp, public_key: key };
  const admission = admit(request, network.genesis.network_id);
  expect('refusal' in admission && admission.refusal.reason).toBe(reason);
  const headers = {
    ...{ 'Content-Type': 'application/json', 'X-Agent-Public-Key': request.public_key },
    ...{ 'X-Timestamp': request.timestamp, 'X-Agent-Signature': request.signature },
  };
  const { method } = carriage[kind];
  const body = Buffer.from(request.body);
  const answer = await fetch(`${url}${target}`, { method, headers, body });
  const { error } = (await answer.json()) as { error: { details: { reason: string } } };
  expect(error.details.reason).toBe(reason);
});
