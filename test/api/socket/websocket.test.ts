/** WebSocket connections over both transports: authentication, messages, limits and closing. */
import { createVerifier, type Verifier, virtualClock } from 'folkmoot';
import { testsWith } from '../../support/fixture.js';
import { connect, Live, type Message } from '../../support/service/live.js';
import { type Around, oneTransport, transports, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  auth,
  debugSocket,
  meme,
  type Request,
  stamp,
  status,
} from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const invalid = { type: 'error', error: { code: 'INVALID_REQUEST' } };

const verifier = createVerifier('pool');
afterAll(() => verifier.close());

const errorOf = (code: string, reason: string) => ({
  type: 'error',
  error: { code, message: expect.any(String), details: expect.objectContaining({ reason }) },
});

/** Flips one bit in a signature. */
const tampering = (by: Agent): Agent => ({
  ...by,
  sign: (text) => by.sign(text).replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
});

describe.each(transports)('websocket over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, verifier, ...around });
  const check = testsWith(() => begin());

  const one = async (around: Around = {}) => {
    const there = await begin(around);
    const ada = await there.join('Ada');
    return { there, ada, live: await there.listen(ada) };
  };

  check('auth: must come first; else 4401', async (there) => {
    for (const first of [
      { type: 'subscribe', topics: ['blocks'] },
      { type: 'unsubscribe', topics: ['blocks'] },
      { type: 'ping', id: 1 },
    ]) {
      const live = await connect(there.wsUrl);
      live.send(first);
      expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'MISSING'));
      expect((await live.closed).code).toBe(4401);
    }
  });

  test.each([
    ['tampered', (by: Agent) => auth(tampering(by))],
    ['signed as an HTTP request', (by: Agent) => auth(prefixed(by, 'agentnet-v1-http\n'))],
    ['signed as a vote', (by: Agent) => auth(prefixed(by, 'agentnet-v1-vote\n'))],
    ['for another time', (by: Agent) => ({ ...auth(by), timestamp: stamp() })],
  ])('auth: a signature that is %s closes with 4401 and changes nothing', async (_, message) => {
    const there = await begin();
    const ada = await there.join('Ada');
    const before = await there.digest();
    const live = await connect(there.wsUrl);
    live.send(message(ada));
    expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'MISMATCH'));
    expect((await live.closed).code).toBe(4401);
    expect(await there.digest()).toBe(before);
  });

  check('auth: a timestamp too old or too new closes with 4401 TIMESTAMP_SKEW', async (there) => {
    const ada = await there.join('Ada');
    for (const off of [-301_000, 301_000]) {
      const live = await connect(there.wsUrl);
      live.send(auth(ada, new Date(Date.now() + off).toISOString()));
      expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'TIMESTAMP_SKEW'));
      expect((await live.closed).code).toBe(4401);
    }
  });

  check('auth: an unregistered key closes with 4403', async (there) => {
    const live = await connect(there.wsUrl);
    live.send(auth(agentOf('Stranger')));
    expect(await live.next()).toEqual(errorOf('INVALID_AGENT', 'UNKNOWN_KEY'));
    expect((await live.closed).code).toBe(4403);
  });

  check('auth: accepts any agent status, and upper-case hex', async (there) => {
    const ada = await there.join('Ada');
    await there.do(status(ada, { status: 'inactive' }), 200);
    const upper = { ...ada, publicKey: ada.publicKey.toUpperCase() };
    const live = await connect(there.wsUrl);
    expect(await live.auth(upper)).toMatchObject({ agent_id: ada.agentId });
  });

  test('auth: a second one is an error and changes nothing', async () => {
    const { there, ada, live } = await one();
    const bob = await there.join('Bob');
    await live.subscribe(['network']);
    for (const by of [ada, bob, agentOf('Stranger')]) {
      live.send(auth(by));
      expect(await live.next()).toMatchObject(invalid);
    }
    await there.join('Eve');
    expect((await live.next()).type).toBe('agent_status');
  });

  check('connections: a fifth closes the oldest of an agent with 4409', async (there) => {
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const four: Live[] = [];
    for (let count = 0; count < 4; count += 1) four.push(await there.listen(ada!));
    const fifth = await there.listen(ada!);
    const [oldest, ...others] = four;
    expect((await oldest!.closed).code).toBe(4409);
    expect(oldest!.received.at(-1)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    await there.listen(bob!);
    for (const live of [...others, fifth]) expect(await live.settled()).toEqual([]);
    await there.listen(ada!);
    expect((await others[0]!.closed).code).toBe(4409);
  });

  check('connections: four of ten concurrent ones stay open', async (there) => {
    const ada = await there.join('Ada');
    const ten = await Promise.all(Array.from({ length: 10 }, () => connect(there.wsUrl)));
    for (const live of ten) live.send(auth(ada));
    const types = await Promise.all(ten.map(async (live) => (await live.next()).type));
    expect(types.filter((type) => type === 'auth_ok')).toHaveLength(10);
    const settled = await Promise.all(ten.map((live) => live.settled().catch(() => null)));
    expect(settled).toHaveLength(10);
    expect(ten.filter(({ socket }) => socket.readyState === socket.CLOSED)).toHaveLength(6);
  });

  test('malformed: gives an error twice, and closes with 4400 the third time', async () => {
    for (const text of ['{', '[]', '"auth"', '{"type":"dance"}', '{"type":"ping"}', '\u0000']) {
      const { live } = await one();
      for (let time = 1; time <= 3; time += 1) {
        live.send(text);
        expect(await live.next()).toMatchObject(invalid);
      }
      expect((await live.closed).code).toBe(4400);
    }
  });

  test.each([
    ...['{"type":"subscribe","topics":[]}', '{"type":"subscribe","topics":"blocks"}'],
    '{"type":"subscribe","topics":["blocks"],"since":{"epoch":"x","seq":-1}}',
    '{"type":"subscribe","topics":["blocks"],"since":5}',
    '{"type":"subscribe","topics":["blocks"],"__proto__":{}}',
    ...[`${'['.repeat(2000)}${']'.repeat(2000)}`, '{"type":"toString"}', '{"type":"__proto__"}'],
    '{"type":"ping","id":1e999}',
  ])('malformed: %s is an error, and the connection stays open', async (text) => {
    const { live } = await one();
    live.send(text);
    expect(await live.next()).toMatchObject({ type: 'error', error: { code: 'INVALID_REQUEST' } });
    expect(await live.settled()).toEqual([]);
  });

  test.each([
    ['{"type":"ping","id":1,"id":2}', '/id'],
    ['{"type":"subscribe","topics":["blocks"],"since":{"seq":1,"seq":1}}', '/since/seq'],
  ])('malformed: %s has a member twice', async (text, pointer) => {
    const { live } = await one();
    live.send(text);
    const details = { reason: 'SCHEMA', pointer };
    expect(await live.next()).toMatchObject({ error: { code: 'INVALID_REQUEST', details } });
  });

  test('malformed: errors older than 60 s do not count', async () => {
    const clock = virtualClock(Date.now());
    const { live } = await one({ clock });
    for (let time = 1; time <= 4; time += 1) {
      if (time === 3) clock.set(clock.now() + 60_001);
      live.send('{');
      expect(await live.next()).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    }
    live.send({ type: 'ping', id: 1 });
    expect(await live.next()).toMatchObject({ type: 'pong' });
    live.send('{');
    await live.next();
    expect((await live.closed).code).toBe(4400);
  });

  test('malformed: counts binary frames, including empty ones', async () => {
    const { live } = await one();
    for (const bytes of [
      Buffer.from('{"type":"ping","id":1}'),
      Buffer.alloc(0),
      Buffer.from([255]),
    ]) {
      live.socket.send(bytes, { binary: true });
      expect(await live.next()).toMatchObject(invalid);
    }
    expect((await live.closed).code).toBe(4400);
  });

  test.each([70_000, 1_000_000])('too large: %i bytes close the connection', async (bytes) => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(bytes));
    expect((await live.closed).code).toBe(transport === 'node' ? 1009 : 1006);
  });

  test.each([16 * 1024 + 1, 64 * 1024])('too large: %i bytes close with 1009', async (bytes) => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(bytes));
    expect((await live.closed).code).toBe(1009);
    expect(live.received.at(-1)).toEqual(errorOf('INVALID_REQUEST', 'TOO_LARGE'));
  });

  test('message size: accepts 16 KiB, even in many small frames', async () => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(16 * 1024));
    expect(await live.next()).toMatchObject({ type: 'pong', data: { id: 'x' } });
    for (const part of ['{"type":"pi', 'ng","id"']) live.socket.send(part, { fin: false });
    live.socket.send(':9}', { fin: true });
    expect(await live.next()).toMatchObject({ type: 'pong', data: { id: 9 } });
  });

  test('too many: warns at message 101, and closes with 4429 at the third warning', async () => {
    const { live } = await one();
    for (let id = 1; id <= 102; id += 1) live.send({ type: 'ping', id });
    const answers: string[] = [];
    for (let count = 0; count < 102; count += 1) answers.push((await live.next()).type);
    expect(answers).toEqual([...Array(99).fill('pong'), 'error', 'error', 'error']);
    expect(live.received.at(-1)!.error.code).toBe('RATE_LIMITED');
    expect((await live.closed).code).toBe(4429);
  });

  test('topics: an unknown topic among known ones changes nothing', async () => {
    const { there, live } = await one();
    live.send({ type: 'subscribe', topics: ['network', 'weather'] });
    expect(await live.next()).toEqual(errorOf('INVALID_REQUEST', 'UNKNOWN_TOPIC'));
    await there.join('Bob');
    expect(await live.settled()).toEqual([]);
    expect(await live.subscribe(['blocks'])).toMatchObject({ topics: ['blocks'] });
    live.send({ type: 'unsubscribe', topics: ['blocks', 'weather'] });
    expect(await live.next()).toEqual(errorOf('INVALID_REQUEST', 'UNKNOWN_TOPIC'));
    expect(await live.subscribe(['network'])).toMatchObject({ topics: ['blocks', 'network'] });
  });

  check('debug: shows a connection only to its owner, even after it has closed', async (there) => {
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const live = await connect(there.wsUrl);
    const id = String((await live.auth(ada!)).connection_id);
    for (let time = 1; time <= 3; time += 1) live.send('{');
    await live.closed;
    const seen = await there.do(debugSocket(ada!, id), 200);
    expect(seen).toMatchObject({ state: 'closed', closed: { code: 4400 } });
    const tampered = debugSocket(tampering(ada!), id);
    const old = debugSocket(ada!, id, new Date(Date.now() - 301_000).toISOString());
    const refused = async (request: Request, reason: string) =>
      expectError(await there.send(request), 401, 'INVALID_SIGNATURE', reason);
    await refused(tampered, 'MISMATCH');
    await refused(old, 'TIMESTAMP_SKEW');
    const foreign = await there.send(debugSocket(bob!, id));
    expectError(foreign, 404, 'INVALID_REQUEST', 'UNKNOWN_CONNECTION');
  });

  test('stop: closes all connections with 1001', async () => {
    const { there, live, ada } = await one();
    const quiet = await connect(there.wsUrl);
    const subscribed = await there.listen(ada, ['network']);
    await there.close();
    const codes = await Promise.all([live, quiet, subscribed].map(({ closed }) => closed));
    expect(codes.map(({ code }) => code)).toEqual([1001, 1001, 1001]);
  });
});

function prefixed(by: Agent, prefix: string): Agent {
  return { ...by, sign: (text) => by.sign(`${prefix}${text}`) };
}

// ---- Resuming events without gap or overlap, even after a restart.

const seqs = (messages: readonly Message[]) => messages.map(({ seq }) => seq);
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.each(oneTransport)('resume over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, ...around });
  const check = testsWith(() => begin());

  check('since: replays missed events, then continues, each once', async (there) => {
    const ada = await there.join('Ada');
    for (let count = 2; count <= 20; count += 1) await there.join(`agent ${count}`);
    const live = await connect(there.wsUrl);
    const { epoch, last_seq } = await live.auth(ada);
    expect(last_seq).toBe(20);
    expect(await live.subscribe(['network'], { epoch, seq: 5 })).toMatchObject({
      ...{ replay: 15, gap: false, last_seq: 20 },
    });
    await there.join('One more');
    expect(seqs(await live.settled())).toEqual(range(6, 21));
  });

  check('since: has no gap and no overlap while events are published', async (there) => {
    const ada = await there.join('Ada');
    for (let count = 2; count <= 300; count += 1) {
      await there.do(status(ada, { status: 'active' }), 200);
    }
    let more = true;
    const writing = (async () => {
      let written = 300;
      for (; more; written += 1) await there.do(status(ada, { status: 'active' }), 200);
      return written;
    })();
    const readers = await Promise.all(
      [0, 1, 150].map(async (seq) => {
        const live = await connect(there.wsUrl);
        const { epoch } = await live.auth(ada);
        const { gap } = await live.subscribe(['network'], { epoch, seq });
        return { live, seq, gap };
      }),
    );
    await readers[0]!.live.until('agent_status');
    more = false;
    const last = await writing;
    for (const { live, seq, gap } of readers) {
      await live.settled();
      const events = live.received.filter(({ type }) => type === 'agent_status');
      expect([gap, seqs(events)]).toEqual([false, range(seq + 1, last)]);
    }
  });

  check('since: replays only events of the topics', async (there) => {
    const ada = await there.join('Ada');
    await there.do(meme(ada, { file: 'Hi' }));
    await there.do(status(ada, { status: 'active' }), 200);
    const live = await connect(there.wsUrl);
    const { epoch } = await live.auth(ada);
    const answer = await live.subscribe(['memes', 'social'], { epoch, seq: 0 });
    expect(answer).toMatchObject({ replay: 1, gap: false });
    expect(await live.settled()).toMatchObject([{ type: 'meme_posted', seq: 2 }]);
  });

  check('since: is allowed only in the first subscribe', async (there) => {
    const live = await there.listen(await there.join('Ada'), ['blocks']);
    const { epoch } = await there.read('/api/v1/meta');
    live.send({ type: 'subscribe', topics: ['network'], since: { epoch, seq: 0 } });
    expect(await live.next()).toMatchObject({ type: 'error', error: { code: 'INVALID_REQUEST' } });
    expect(await live.subscribe(['social'])).toMatchObject({ topics: ['blocks', 'social'] });
  });

  check('since: is still allowed after a refused subscribe', async (there) => {
    const live = await there.listen(await there.join('Ada'));
    const { epoch } = await there.read('/api/v1/meta');
    live.send({ type: 'subscribe', topics: ['weather'], since: { epoch, seq: 0 } });
    expect((await live.next()).type).toBe('error');
    expect(await live.subscribe(['network'], { epoch, seq: 0 })).toMatchObject({ replay: 1 });
  });

  test.each([
    ['another epoch', { epoch: 'another', seq: 2 }],
    ['a future seq', { seq: 99 }],
  ])('since: %s is a gap and replays all available events', async (_, since) => {
    const there = await begin();
    const [ada] = await there.joinAll('Ada', 'Bob', 'Eve');
    const live = await connect(there.wsUrl);
    const { epoch } = await live.auth(ada!);
    const answer = await live.subscribe(['network'], { epoch, ...since });
    expect(answer).toMatchObject({ gap: true, replay: 3, epoch });
    expect(seqs(await live.settled())).toEqual([1, 2, 3]);
  });

  check('since: the head is not a gap and replays nothing', async (there) => {
    const ada = await there.join('Ada');
    const live = await connect(there.wsUrl);
    const { epoch } = await live.auth(ada);
    const answer = await live.subscribe(['network'], { epoch, seq: 1 });
    expect(answer).toMatchObject({ gap: false, replay: 0 });
    await there.join('Bob');
    expect(seqs(await live.settled())).toEqual([2]);
  });

  check('topics: an event of two topics arrives once; seq increases strictly', async (there) => {
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const all = ['blocks', 'consensus', 'network', 'social', 'memes', 'proposals', 'outcomes'];
    const live = await there.listen(ada!, all);
    for (let height = 1; height <= 3; height += 1) {
      await there.do(meme(ada!, { file: `Meme ${height}` }));
      const hash = await there.propose(ada!);
      await there.vote(ada!, hash);
      await there.vote(bob!, hash);
    }
    const numbers = seqs(await live.settled());
    expect(numbers).toEqual(range(numbers[0]!, numbers.at(-1)!));
    const kept = await there.read('/api/v1/events?limit=1000');
    expect(live.received.filter(({ seq }) => seq)).toEqual(
      (kept.events as Message[]).slice(numbers[0]! - 1),
    );
  });
});

// ---- Limits on WebSocket messages before and after auth.

const STRANGER_BYTES = 4 * 1024;
const STRANGERS = 64;

describe.each(oneTransport)('socket limits over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, ...around });
  const check = testsWith(() => begin());

  check('auth: is accepted once; a replay closes with 4401 REPLAYED', async (there) => {
    const ada = await there.join('Ada');
    const message = auth(ada);
    const own = await connect(there.wsUrl);
    own.send(message);
    await own.until('auth_ok');
    for (let time = 0; time < 5; time += 1) {
      const thief = await connect(there.wsUrl);
      thief.send(message);
      expect(await thief.next()).toMatchObject({
        type: 'error',
        error: { code: 'INVALID_SIGNATURE', details: { reason: 'REPLAYED' } },
      });
      expect((await thief.closed).code).toBe(4401);
    }
    expect(await own.settled()).toEqual([]);
    await there.listen(ada);
  });

  check('auth: accepts one of two concurrent copies', async (there) => {
    const message = auth(await there.join('Ada'));
    const two = await Promise.all([connect(there.wsUrl), connect(there.wsUrl)]);
    for (const live of two) live.send(message);
    const types = await Promise.all(two.map(async (live) => (await live.next()).type));
    expect(types.sort()).toEqual(['auth_ok', 'error']);
  });

  check('auth: a refused message may be sent again', async (there) => {
    const good = auth(await there.join('Ada'));
    const bad = await connect(there.wsUrl);
    bad.send({ ...good, signature: auth(agentOf('Eve')).signature });
    expect((await bad.closed).code).toBe(4401);
    const live = await connect(there.wsUrl);
    live.send(good);
    expect((await live.next()).type).toBe('auth_ok');
  });

  check('auth: limits messages before auth_ok to 4 KiB', async (there) => {
    const ada = await there.join('Ada');
    const just = await connect(there.wsUrl);
    just.send(JSON.stringify(auth(ada)).padEnd(STRANGER_BYTES));
    expect((await just.next()).type).toBe('auth_ok');
    const large = await connect(there.wsUrl);
    large.send(JSON.stringify(auth(ada)).padEnd(STRANGER_BYTES + 1));
    expect((await large.closed).code).toBe(1009);
    expect(large.received.at(-1)).toMatchObject({ error: { details: { reason: 'TOO_LARGE' } } });
  });

  test('auth: bounds the messages queued behind it', async () => {
    const inline = createVerifier('inline');
    let wait: Promise<void> | null = null;
    const verifier: Verifier = {
      ...inline,
      name: 'slow',
      stats: inline.stats,
      close: () => inline.close(),
      verify: async (jobs) => {
        await wait;
        return inline.verify(jobs);
      },
    };
    const there = await begin({ verifier });
    const ada = await there.join('Ada');
    let go = () => {};
    wait = new Promise((resolve) => {
      go = resolve;
    });
    const [few, many] = [await connect(there.wsUrl), await connect(there.wsUrl)];
    for (const [live, count] of [
      [few, 32],
      [many, 33],
    ] as const) {
      live.send(auth(ada));
      for (let id = 0; id < count; id += 1) live.send({ type: 'ping', id });
    }
    expect((await many.closed).code).toBe(4429);
    go();
    await few.until('auth_ok');
    expect(await few.settled()).toHaveLength(32);
  });

  test.each(['ping', 'pong'] as const)('closes a flood of %ss with 4429', async (kind) => {
    const there = await begin();
    const live = await connect(there.wsUrl);
    for (let count = 0; count < 100; count += 1) live.socket[kind]();
    // By the time of this response, the server has read all earlier messages.
    await there.get('/healthz');
    expect(live.socket.readyState).toBe(live.socket.OPEN);
    live.socket[kind]();
    expect((await live.closed).code).toBe(4429);
  });

  test('limits off: allow any number of messages, and of connections of an agent', async () => {
    const there = await begin({ limits: 'off' });
    const ada = await there.join('Ada');
    const all: Live[] = [];
    for (let count = 0; count < 6; count += 1) all.push(await there.listen(ada));
    const [first] = all;
    for (let id = 0; id < 300; id += 1) {
      first!.send({ type: 'ping', id });
      first!.socket.ping();
    }
    const pongs = (await first!.settled()).filter(({ type }) => type === 'pong');
    expect(pongs.length).toBeGreaterThanOrEqual(300);
    expect(all.map(({ socket }) => socket.readyState)).toEqual(all.map(() => 1));
    // The limits on sizes remain.
    first!.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(16 * 1024 + 1));
    expect((await first!.closed).code).toBe(1009);
  });

  test('limits an address to 64 unauthenticated connections', async () => {
    const there = await begin({ limits: 'spec' });
    const ada = await there.join('Ada');
    const open = await Promise.all(Array.from({ length: STRANGERS }, () => connect(there.wsUrl)));
    await expect(Live.open(there.wsUrl)).rejects.toThrow('429');
    await open[0]!.auth(ada);
    const another = await connect(there.wsUrl);
    await expect(Live.open(there.wsUrl)).rejects.toThrow('429');
    another.socket.terminate();
    await expect.poll(() => connect(there.wsUrl).then(() => true)).toBe(true);
  });
});
