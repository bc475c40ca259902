/** Unknown names are legal, and a header lists them. */
import fc from 'fast-check';
import { canonical } from 'folkmoot';
import { AgentClient, generateKeys } from 'folkmoot/client';
import { unknownMembers } from '../../../dist/api/checks/unknown-members.js';
import { testsWith } from '../../support/fixture.js';
import { oneTransport, world } from '../../support/service/server.js';
import {
  agentOf,
  formOf,
  meme,
  propose,
  type Request,
  register,
  signed,
  status,
  transaction,
  verification,
  vote,
} from '../../support/service/signer.js';
import { expectError, expectSuccess, GENESIS_HASH } from '../../support/service/world.js';

const HEADER = 'folkmoot-unknown';
const namesOf = ({ headers }: { headers: Headers }) => headers.get(HEADER);

describe.each(oneTransport)('unknown names over %s', (transport) => {
  const begin = () => world({ transport });
  const check = testsWith(() => begin());

  check('a write: succeeds, with pointers to unknown members in a header', async (there) => {
    const ada = agentOf('Ada');
    const first = await there.send(register(ada, { name: 'Ada', personality: 'nice', nick: 'A' }));
    expectSuccess(first, 201);
    expect(namesOf(first)).toBe('/nick, /personality');
    const block_hash = await there.propose(ada);
    const reson = { block_hash, reson: 'sound', meme_references: [] };
    const voted = await there.send(vote(ada, reson));
    expectSuccess(voted, 201);
    expect(namesOf(voted)).toBe('/reson');
    const known = await there.send(status(ada, { status: 'inactive', reason: 'tired' }));
    expect([known.status, namesOf(known)]).toEqual([200, null]);
  });

  test('a ballot and options: are unknown unless the rule reads them', async () => {
    const options = [{ name: 'a' }, { name: 'b' }];
    const ballot = { option: 'b' };
    const there = await begin();
    const ada = await there.join('Ada');
    const proposed = await there.send(propose(ada, { parent_hash: '0'.repeat(64), options }));
    expect([proposed.status, namesOf(proposed)]).toEqual([201, '/options']);
    const block_hash = proposed.data.block_hash;
    const large = { option: 'x'.repeat(512) };
    const refused = await there.send(vote(ada, { block_hash, ballot: large }));
    expectError(refused, 400, 'INVALID_REQUEST', 'SCHEMA');
    expect(refused.error.details.pointer).toBe('/ballot');
    const voted = await there.send(vote(ada, { block_hash, ballot }));
    expect([voted.status, namesOf(voted)]).toEqual([201, '/ballot']);
    const electing = await world({ transport, genesis: { policy: 'plurality' } });
    const ben = await electing.join('Ben');
    const read = await electing.send(propose(ben, { parent_hash: '0'.repeat(64), options }));
    expect([read.status, namesOf(read)]).toEqual([201, null]);
    const counted = await electing.send(vote(ben, { block_hash: read.data.block_hash, ballot }));
    expect([counted.status, namesOf(counted)]).toEqual([201, null]);
  });

  check('a refusal: names the misspelt member and the missing one', async (there) => {
    const ada = await there.join('Ada');
    const answer = await there.send(
      vote(ada, { blok_hash: 'ab'.repeat(32), block_hash: undefined }),
    );
    expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
    expect([answer.error.details.pointer, namesOf(answer)]).toEqual(['/block_hash', '/blok_hash']);
    const unsigned = { ...status(ada, { status: 'active', more: 1 }) };
    const late = await there.send({
      ...unsigned,
      headers: { ...unsigned.headers, 'X-Timestamp': '' },
    });
    expectError(late, 401, 'INVALID_SIGNATURE', 'MISSING');
  });

  check('a query: lists unknown parameters, including in refusals', async (there) => {
    const read = await there.get('/api/v1/blocks?limt=3&limit=3&status=voting');
    expect([read.status, namesOf(read)]).toEqual([200, '?limt']);
    const refused = await there.get('/api/v1/blocks?limit=none&page=2');
    expectError(refused, 400, 'INVALID_REQUEST', 'SCHEMA');
    expect(namesOf(refused)).toBe('?page');
    expect(namesOf(await there.get('/api/v1/network/state?'))).toBe(null);
    const ada = await there.join('Ada');
    const own = `/api/v1/agents/${ada.agentId}/status?dry_run=1`;
    const write = await there.send(signed(ada, 'PUT', own, { status: 'active', more: 1 }));
    expect([write.status, namesOf(write)]).toEqual([200, '/more, ?dry_run']);
  });

  test('a query: joins a repeated list, refuses any other repeated name and brackets', async () => {
    const there = await begin();
    await there.join('Ada');
    const seqs = async (query: string) => {
      const { events } = await there.read(`/api/v1/events?${query}`);
      return (events as { seq: number }[]).map(({ seq }) => seq);
    };
    const [network, blocks] = [await seqs('topics=network'), await seqs('topics=blocks')];
    expect([network.length > 0, blocks]).toEqual([true, []]);
    expect(await seqs('topics=blocks&topics=network')).toEqual(network);
    expect(await seqs('topics=blocks,consensus&topics=network')).toEqual(network);
    for (const [query, pointer] of [
      ['events?limit=1&limit=2', '/limit'],
      ['events?topics[]=network', '/topics'],
      ['events?topics%5B0%5D=network', '/topics'],
      ['events?topics=network&topics=', '/topics'],
      ['network/state?at=0&at=1', '/at'],
      ['network/state?at[]=1', '/at'],
      ['view?at=0&at=0', '/at'],
      ['blocks?status=voting&status=final', '/status'],
    ]) {
      const refused = await there.get(`/api/v1/${query}`);
      expectError(refused, 400, 'INVALID_REQUEST', 'SCHEMA');
      expect([query, refused.error.details.pointer]).toEqual([query, pointer]);
    }
    const unknown = await there.get('/api/v1/network/state?x[]=1&x=1&x=2');
    expect([unknown.status, namesOf(unknown)]).toEqual([200, '?x%5B%5D, ?x']);
  });

  test('a compressed body: is refused with 415, without a body it does not matter', async () => {
    const there = await begin();
    const good = status(await there.join('Ada'), { status: 'inactive' });
    const send = (coding: string) =>
      there.send({ ...good, headers: { ...good.headers, 'Content-Encoding': coding } });
    for (const coding of ['gzip', 'br', 'GZIP, identity']) {
      expectError(await send(coding), 415, 'INVALID_REQUEST', 'MEDIA_TYPE');
    }
    expectSuccess(await send('identity'), 200);
    expectSuccess(await there.get('/api/v1/network/state', { 'Content-Encoding': 'gzip' }), 200);
  });

  check('a form: lists unknown fields', async (there) => {
    const good = meme(await there.join('Ada'), { file: 'gm' });
    const signature = /name="signature"\r\n\r\n([0-9a-f]+)/.exec(
      Buffer.from(good.body).toString(),
    )![1]!;
    const body = formOf(
      [
        ['captoin', 'gm'],
        ['caption', ''],
        ['signature', signature],
      ],
      'gm',
    );
    const posted = await there.send({ ...good, body });
    expect([posted.status, namesOf(posted)]).toEqual([201, '/captoin']);
  });

  check('any names: give a bounded header that no name can terminate', async (there) => {
    const ada = await there.join('Ada');
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 24 });
    const odd = fc.constantFrom(
      'a\r\nX-Evil: 1',
      'a, /b',
      '~/',
      '...',
      ' ',
      '%0d%0a',
      '\u2028',
      '🎉',
    );
    const names = fc.uniqueArray(fc.oneof(name, odd), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(names, fc.boolean(), async (all, inQuery) => {
      const legal = all.filter((one) => !['status', '__proto__', 'constructor'].includes(one));
      const query = new URLSearchParams(legal.map((one) => [one, '']));
      const members = Object.fromEntries(legal.map((one) => [one, 0]));
      const answer = inQuery
        ? await there.get(`/api/v1/network/state?${query}`)
        : await there.send(status(ada, { ...members, status: 'active' }));
      expect(answer.headers.get('x-evil')).toBe(null);
      if (answer.status !== 200) return;
      const header = namesOf(answer) ?? '';
      expect(header.length).toBeLessThanOrEqual(512);
      expect(header).toMatch(/^[\x21-\x7e]*(?:, [\x21-\x7e]+)*$/);
      const shown = header === '' ? [] : header.split(', ').filter((one) => one !== '...');
      for (const one of shown) {
        const text = decodeURIComponent(one.slice(1));
        expect(legal).toContain(inQuery ? text : text.replaceAll('~1', '/').replaceAll('~0', '~'));
      }
      if (!header.endsWith('...')) expect(shown.length).toBe(legal.length);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  check('WebSocket: lists unknown members in acknowledgements and refusals', async (there) => {
    const live = await there.listen(await there.join('Ada'));
    live.send({ type: 'subscribe', topics: ['blocks'], snce: { epoch: 'a', seq: 1 } });
    expect((await live.until('subscribed')).data).toMatchObject({ unknown: ['/snce'] });
    live.send({ type: 'subscribe', topic: ['blocks'] });
    const { error } = await live.until('error');
    expect(error).toMatchObject({ details: { pointer: '/topics', unknown: ['/topic'] } });
    live.send({ type: 'ping', id: 1 });
    expect((await live.until('pong')).data).not.toHaveProperty('unknown');
  });

  check('client: reports unknown names', async (there) => {
    const told: (readonly string[])[] = [];
    const onUnknown = (names: readonly string[]) => told.push(names);
    const ada = new AgentClient({ url: there.url, keys: generateKeys(), onUnknown });
    const odd = { name: 'Ada', personality: 'nice', capabilities: ['validator'] as const, age: 7 };
    await ada.register(odd);
    await ada.setStatus('inactive');
    expect(told).toEqual([['/age', '/personality']]);
  });
});

test('debug/verify: lists unknown names with the closest known ones', async () => {
  const there = await world();
  const ada = await there.join('Ada');
  const ask = async (request: Request) => (await there.do(verification(request), 200)).unknown;
  const fields = { block_hash: 'ab'.repeat(32), reson: 'sound', xyz: 1 };
  expect(await ask(vote(ada, fields))).toEqual([
    { at: '/reson', closest: '/reason' },
    { at: '/xyz', closest: null },
  ]);
  expect(await ask(register(agentOf('Bob'), { personality: 'lawfull' }))).toEqual([
    { at: '/personality', closest: 'lawful' },
  ]);
  expect(await ask(status(ada, { status: 'active' }))).toEqual([]);
});

// ---- Unknown members: at most 512 bytes of canonical JSON in total.

const BAD = { status: 'active' };
/** Returns a member's size as canonical JSON, including colon and comma. */
const bytesOf = (name: string, value: unknown) =>
  Buffer.byteLength(canonical(name)) + Buffer.byteLength(canonical(value)) + 2;

test('unknown members: allow exactly 512 bytes of any values', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (members) => {
      const unknown = Object.entries(members).filter(
        ([name]) => !['status', 'reason', 'expected_duration', '__proto__'].includes(name),
      );
      const all = unknown.reduce((sum, [name, value]) => sum + bytesOf(name, value), 0);
      const body = { ...BAD, ...Object.fromEntries(unknown) };
      expect(unknownMembers('status', body).refusal === null).toBe(all <= 512);
      // Sends as much as fits, then one byte more.
      const rest = 512 - all - bytesOf('filling', '');
      if (rest < 0) return;
      expect(unknownMembers('status', { ...body, filling: 'x'.repeat(rest) }).refusal).toBe(null);
      const more = { ...body, filling: 'x'.repeat(rest + 1) };
      expect(unknownMembers('status', more).refusal?.pointer).toBe('/filling');
    }),
    { numRuns: 300 },
  );
});

test.each(oneTransport)('unknown members over %s: refuses one too many', async (transport) => {
  const there = await world({ transport });
  const ada = await there.join('Ada');
  const before = await there.digest();
  const far = await there.send(status(ada, { ...BAD, a: 1, 'b/c': 'x'.repeat(600) }));
  expectError(far, 400, 'INVALID_REQUEST', 'SCHEMA');
  expect(far.error.details.pointer).toBe('/b~1c');
  const padded = { ...transaction(ada, await there.networkId(), 'pay'), note: 'x'.repeat(200) };
  const send = (transactions: unknown[]) =>
    there.send(propose(ada, { parent_hash: GENESIS_HASH, transactions }));
  const deep = await send([padded, padded, padded]);
  expect(deep.error.details.pointer).toBe('/transactions/2/note');
  expect(await there.digest()).toBe(before);
  expect((await send([padded])).status).toBe(201);
  const path = `/api/v1/agents/${ada.agentId}/status`;
  await there.do(signed(ada, 'PUT', path, { ...BAD, note: 'x'.repeat(400) }), 200);
});

// ---- POST /api/v1/debug/verify: input, results and limit.

const PATH = '/api/v1/debug/verify';

const asking = (body: unknown): Request => ({
  method: 'POST',
  path: PATH,
  headers: { 'Content-Type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

test.each([
  ['{', 'BAD_JSON'],
  ['{"__proto__":1}', 'BAD_JSON'],
  ['[]', 'SCHEMA'],
  ['{}', 'SCHEMA'],
  [JSON.stringify({ method: 'POST', target: '/x', headers: { a: 1 }, body: '' }), 'SCHEMA'],
])('verify: answers %s with 400 %s', async (body, reason) => {
  expectError(await (await world()).send(asking(body)), 400, 'INVALID_REQUEST', reason);
});

test('verify: answers a request that needs no signature with 404', async () => {
  const there = await world();
  for (const target of ['/api/v1/network/state', '/nowhere', PATH]) {
    const question = asking({ method: 'GET', target, headers: {}, body: '' });
    expectError(await there.send(question), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
  }
});

test('verify: explains why a request would be refused', async () => {
  const there = await world();
  const ada = await there.join('Ada');
  const good = status(ada, { status: 'inactive' });
  const ask = async (request: Request) => there.do(verification(request), 200);
  expect(await ask(good)).toMatchObject({ valid: true, request_target: good.path });
  const unsigned = { ...good, headers: { ...good.headers, 'X-Agent-Signature': '' } };
  expect(await ask(unsigned)).toMatchObject({ valid: false, reason: 'MISSING' });
  const stranger = status(agentOf('Stranger'), { status: 'active' });
  expect(await ask(stranger)).toMatchObject({ valid: false, reason: 'UNKNOWN_KEY' });
  const wrong = { ...good, body: '{"status":"active"}' };
  expect(await ask(wrong)).toMatchObject({ valid: false, reason: 'MISMATCH' });
  expect((await there.read(`/api/v1/agents/${ada.agentId}`)).status).toBe('active');
});

test('verify: uses the read limit of the address, not the limits of the agent', async () => {
  const there = await world({ limits: 'spec' });
  const question = verification(register(agentOf('Ada')));
  for (let asked = 0; asked < 600; asked += 50) {
    await Promise.all(Array.from({ length: 50 }, () => there.send(question)));
  }
  const codes = (await there.send(question)).status;
  expect([codes, (await there.send(register(agentOf('Ada')))).status]).toEqual([429, 201]);
});
