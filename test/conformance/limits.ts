/** Rate limits (docs/protocol.md, section 14): their values, and their headers. */
import { expect, test } from 'vitest';
import {
  type Agent,
  agentOf,
  meme,
  propose,
  type Request,
  register,
  signed,
  status,
  transaction,
  vote,
} from '../support/service/signer.js';
import { begin, expectError, GENESIS_HASH, type Start } from '../support/service/world.js';

/** All limited operations. Other refusals do not matter. */
const operations: [string, number, (by: Agent) => Request][] = [
  ['vote', 10, (by) => vote(by, { block_hash: 'a'.repeat(64) })],
  ['propose', 5, (by) => propose(by, { parent_hash: 'a'.repeat(64) })],
  ['meme', 20, (by) => meme(by, { file: 'Hi' })],
  ['status', 30, (by) => status(by, { status: 'active' })],
];

export function limitTests(start: Start): void {
  test.each(
    operations,
  )('limits: %s is limited to %i per minute and agent', async (name, most, of) => {
    const world = await begin(start, 'spec');
    const ada = await world.join('Ada');
    for (let used = 1; used <= most; used += 1) {
      const { status: code, headers, text } = await world.send(of(ada));
      expect(code, text).not.toBe(429);
      expect(headers.get('ratelimit-policy')).toBe(`"${name}";q=${most};w=60`);
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=${most - used};t=\\d+$`));
    }
    const refused = await world.send(of(ada));
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toBe(`"${name}";r=0;t=${wait}`);
  });

  test('limits: registration is limited to 1 per minute', async () => {
    const world = await begin(start, 'spec');
    const first = await world.send(register(agentOf('Ada')));
    expect(first.status).toBe(201);
    expect(first.headers.get('ratelimit-policy')).toBe('"register";q=1;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"register";r=0;t=\d+$/);
    const refused = await world.send(register(agentOf('Bob')));
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  test('limits: /api/v1/meta shows the rate limits of the profile', async () => {
    const world = await begin(start, 'spec');
    expect((await world.read('/api/v1/meta')).limits).toMatchObject({
      profile: 'spec',
      per_minute: { register: 1, vote: 10, propose: 5, meme: 20, status: 30 },
    });
  });

  test('limits: a proposal may have 2 MiB, other JSON 8 KiB', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const network = await world.networkId();
    const data = (index: number) => `${index}${'x'.repeat(4_000)}`;
    const pay = (_: unknown, index: number) => transaction(ada, network, data(index));
    const transactions = Array.from({ length: 450 }, pay);
    const large = await world.send(propose(ada, { parent_hash: GENESIS_HASH, transactions }));
    expect(large.status, large.text).toBe(201);
    const room = (bytes: number) => ({ status: 'active', padding: ' '.repeat(bytes) });
    const small = `${' '.repeat(8_000)}{"status":"active"}`;
    const path = `/api/v1/agents/${ada.agentId}/status`;
    expect((await world.send(signed(ada, 'PUT', path, small))).status).toBe(200);
    const fat = await world.send(status(ada, room(8 * 1024)));
    expectError(fat, 413, 'INVALID_REQUEST', 'TOO_LARGE');
    const filler = 'x'.repeat(2 * 1024 * 1024);
    const tooLarge = await world.send(propose(ada, { parent_hash: GENESIS_HASH, filler }));
    expectError(tooLarge, 413, 'INVALID_REQUEST', 'TOO_LARGE');
  });
}
