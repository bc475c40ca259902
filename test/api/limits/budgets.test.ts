/** Byte budgets, exact to the byte, by agent and address, per minute and day. */
import { type Around, oneTransport, timedWorld, world } from '../../support/service/server.js';
import { type Agent, meme, propose, signed, status } from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

/** Bytes counted in addition to body and file. */
const BESIDE = 512;

async function begin(transport: 'uws' | 'node', figures: NonNullable<Around['server']>['figures']) {
  const timed = await timedWorld({ transport, server: figures ? { figures } : {} });
  /** Builds a status update with a body of the given size. */
  const padded = (by: Agent, bytes: number) => {
    const text = '{"status":"active"}'.padEnd(bytes, ' ');
    timed.pass(1);
    return signed(by, 'PUT', `/api/v1/agents/${by.agentId}/status`, text, timed.at());
  };
  return { ...timed, padded };
}

describe.each(oneTransport)('budgets over %s', (transport) => {
  test('bytes: allow 256 KiB a minute per agent; refusals cost nothing', async () => {
    const { there, join, padded, pass } = await begin(transport, { status: 100 });
    const [ada, bob] = [await join('Ada'), await join('Bob')];
    for (let times = 0; times < 30; times += 1) await there.do(padded(ada, 8 * 1024), 200);
    // 256 KiB minus 30 times 8 KiB and 512 bytes leaves 1,024.
    const over = await there.send(padded(ada, 1_024 - BESIDE + 1));
    expectError(over, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(over.error.details).toMatchObject({ limit: 'bytes', quota: 256 * 1024 });
    expect(over.headers.get('ratelimit')).toMatch(/^"bytes";r=1024;t=60$/);
    expect(over.headers.get('ratelimit-policy')).toBe('"bytes";q=262144;w=60');
    expect(over.headers.get('retry-after')).toBe('60');
    const foreign = { ...padded(ada, 400), path: `/api/v1/agents/${bob.agentId}/status` };
    expect((await there.send(foreign)).status).toBe(401);
    await there.do(padded(ada, 1_024 - BESIDE), 200);
    expect((await there.send(padded(ada, 19))).status).toBe(429);
    await there.do(padded(bob, 8 * 1024), 200);
    pass(60_000);
    await there.do(padded(ada, 8 * 1024), 200);
  });

  test('bytes: a repeat uses none', async () => {
    const { there, join, padded } = await begin(transport, { bytes: 2_000 });
    const ada = await join('Ada');
    const first = padded(ada, 1_000);
    await there.do(first, 200);
    expect((await there.send(padded(ada, 1_000))).status).toBe(429);
    expect((await there.do(first, 200)).duplicate).toBe(true);
  });

  test('meta: shows the effective limits, including overrides', async () => {
    const { there } = await begin(transport, { bytes: 2_000, vote: 7 });
    const { limits } = (await there.read('/api/v1/meta')) as { limits: Record<string, unknown> };
    expect(limits).toMatchObject({
      profile: 'spec',
      per_minute: { register: 1, vote: 7, read: 600 },
      windows: {
        bytes: { quota: 2_000, window_s: 60, counted_for: 'agent', unit: 'bytes' },
        day_bytes: { quota: 64 * 1024 * 1024, window_s: 86_400 },
        requests: { quota: 1_000, window_s: 1, counted_for: 'address', unit: 'requests' },
      },
      body_bytes: { small: 8_192, propose: 2 * 1024 * 1024 },
      unknown_members_bytes: 512,
    });
    const other = await world({ transport, limits: 'bench' });
    const bench = (await other.read('/api/v1/meta')).limits;
    expect(bench).toMatchObject({ per_minute: { vote: 100_000 } });
    const none = await world({ transport, limits: 'off' });
    expect((await none.read('/api/v1/meta')).limits).toMatchObject({ per_minute: {}, windows: {} });
  });

  test('address_bytes: agents of one address share a budget', async () => {
    const { there, join, padded } = await begin(transport, { address_bytes: 10_000 });
    const agents = [await join('Ada'), await join('Bob'), await join('Cid')];
    for (const agent of agents.slice(0, 2)) await there.do(padded(agent, 4_000), 200);
    const over = await there.send(padded(agents[2]!, 4_000));
    expect(over.error.details).toMatchObject({ limit: 'address_bytes', quota: 10_000 });
  });

  test('day_bytes: count memes and proposals per day', async () => {
    const figures = { day_bytes: 5_000, address_day_bytes: 8_000 };
    const { there, join, at, pass } = await begin(transport, figures);
    const [ada, bob] = [await join('Ada'), await join('Bob')];
    const file = (name: string) => name.padEnd(3_000, 'x');
    await there.do(meme(ada, { file: file('a') }, at()));
    const { head_hash: parent_hash } = await there.read('/api/v1/network/state');
    const meme_content = { type: 'text', content: 'x'.repeat(1_500), tags: [] };
    const over = await there.send(propose(ada, { parent_hash, meme_content }, at()));
    expect(over.error.details).toMatchObject({ limit: 'day_bytes', quota: 5_000 });
    expect(over.headers.get('ratelimit-policy')).toBe('"day_bytes";q=5000;w=86400');
    await there.do(status(ada, { status: 'active' }, ada.agentId, at()), 200);
    await there.do(meme(bob, { file: file('b') }, at()));
    const small = await there.send(propose(bob, { parent_hash, meme_content }, at()));
    expect(small.error.details).toMatchObject({ limit: 'day_bytes' });
    const cid = await join('Cid');
    const shared = await there.send(meme(cid, { file: file('c') }, at()));
    expect(shared.error.details).toMatchObject({ limit: 'address_day_bytes', quota: 8_000 });
    pass(86_400_000);
    await there.do(meme(cid, { file: file('c') }, at()));
    await there.do(propose(ada, { parent_hash, meme_content }, at()));
  });
});
