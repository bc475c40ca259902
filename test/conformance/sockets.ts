/** The WebSocket and its debug endpoint (docs/protocol.md, section 15). */
import { connect } from '../support/service/live.js';
import { auth, debugSocket } from '../support/service/signer.js';
import { expectError, type Start, TIMESTAMP, testsOn } from '../support/service/world.js';

const TOPICS = ['blocks', 'consensus', 'network', 'social', 'memes'];

export function socketTests(start: Start): void {
  const test = testsOn(start);
  test('auth: acknowledged with the connection, the agent and the last event', async (world) => {
    const ada = await world.join('Ada');
    const live = await connect(world.wsUrl);
    live.send(auth(ada));
    expect(await live.next()).toEqual({
      type: 'auth_ok',
      data: {
        ...{ connection_id: expect.any(String), agent_id: ada.agentId },
        ...{ epoch: (await world.read('/api/v1/meta')).epoch, last_seq: 1, heartbeat_ms: 30_000 },
      },
    });
  });

  test('auth and subscribe: may be sent together, without a wait for auth_ok', async (world) => {
    const ada = await world.join('Ada');
    const live = await connect(world.wsUrl);
    live.send(auth(ada));
    live.send({ type: 'subscribe', topics: TOPICS });
    expect([(await live.next()).type, (await live.next()).type]).toEqual(['auth_ok', 'subscribed']);
    await world.join('Bob');
    expect((await live.next()).type).toBe('agent_status');
  });

  test('subscribe: acknowledges each topic with all topics so far', async (world) => {
    const ada = await world.join('Ada');
    const live = await world.listen(ada);
    const soFar: string[] = [];
    for (const topic of [...TOPICS, 'proposals', 'outcomes']) {
      soFar.push(topic);
      const { topics, ...rest } = await live.subscribe([topic]);
      expect((topics as string[]).toSorted()).toEqual(soFar.toSorted());
      const { epoch } = await world.read('/api/v1/meta');
      expect(rest).toEqual({ epoch, last_seq: 1, replay: 0, gap: false });
    }
  });

  test('unsubscribe and ping are acknowledged', async (world) => {
    const ada = await world.join('Ada');
    const live = await world.listen(ada, ['network', 'blocks']);
    live.send({ type: 'unsubscribe', topics: ['network'] });
    expect(await live.next()).toEqual({ type: 'unsubscribed', data: { topics: ['blocks'] } });
    live.send({ type: 'ping', id: 7 });
    expect(await live.next()).toEqual({ type: 'pong', data: { id: 7, server_time: TIMESTAMP } });
    await world.join('Bob');
    expect(await live.settled()).toEqual([]);
  });

  test('debug/ws: shows a connection to its owner only', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const live = await connect(world.wsUrl);
    const { connection_id } = await live.auth(ada!);
    await live.subscribe(['network']);
    await world.join('Eve');
    await live.until('agent_status');
    const id = String(connection_id);
    const open = {
      ...{ connection_id: id, agent_id: ada!.agentId, state: 'open', connected_at: TIMESTAMP },
      ...{ authenticated_at: TIMESTAMP, topics: ['network'], last_seq_sent: 3, messages_in: 2 },
      ...{ messages_out: 3, bytes_out: expect.any(Number), buffered_bytes: 0, closed: null },
    };
    expect(await world.do(debugSocket(ada!, id), 200)).toEqual(open);
    for (const request of [debugSocket(bob!, id), debugSocket(ada!, 'conn_0')]) {
      expectError(await world.send(request), 404, 'INVALID_REQUEST', 'UNKNOWN_CONNECTION');
    }
    const unsigned = await world.get(`/api/v1/debug/ws/${id}`);
    expectError(unsigned, 401, 'INVALID_SIGNATURE', 'MISSING');
    live.socket.close(1000);
    await live.closed;
    const seen = async () => world.do(debugSocket(ada!, id), 200);
    await expect.poll(seen).toMatchObject({
      ...{ state: 'closed', topics: ['network'], last_seq_sent: 3 },
      closed: { code: 1000, reason: expect.any(String), at: TIMESTAMP },
    });
  });

  test('path: only /ws/v1 accepts WebSockets', async (world) => {
    const wrong = world.wsUrl.replace('/ws/v1', '/ws/v2');
    await expect(connect(wrong)).rejects.toThrow('404');
  });
}
