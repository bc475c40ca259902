/** Limits on WebSocket messages before and after auth. */
import { createVerifier, type Verifier } from 'folkmoot';
import { describe, expect, test } from 'vitest';
import { connect, Live } from '../../support/service/live.js';
import { type Around, oneTransport, world } from '../../support/service/server.js';
import { agentOf, auth } from '../../support/service/signer.js';

const STRANGER_BYTES = 4 * 1024;
const STRANGERS = 64;

describe.each(oneTransport)('socket limits over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, ...around });

  test('auth: is accepted once; a replay closes with 4401 REPLAYED', async () => {
    const there = await begin();
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

  test('auth: accepts one of two concurrent copies', async () => {
    const there = await begin();
    const message = auth(await there.join('Ada'));
    const two = await Promise.all([connect(there.wsUrl), connect(there.wsUrl)]);
    for (const live of two) live.send(message);
    const types = await Promise.all(two.map(async (live) => (await live.next()).type));
    expect(types.sort()).toEqual(['auth_ok', 'error']);
  });

  test('auth: a refused message may be sent again', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const good = auth(ada);
    const bad = await connect(there.wsUrl);
    bad.send({ ...good, signature: auth(agentOf('Eve')).signature });
    expect((await bad.closed).code).toBe(4401);
    const live = await connect(there.wsUrl);
    live.send(good);
    expect((await live.next()).type).toBe('auth_ok');
  });

  test('auth: limits messages before auth_ok to 4 KiB', async () => {
    const there = await begin();
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
