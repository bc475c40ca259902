/** Rate limits (docs/protocol.md, section 14): their values, and their headers. */
import { expect, test } from 'vitest';
import { propose, signed, status, transaction, vote } from '../support/service/signer.js';
import { begin, expectError, GENESIS_HASH, type Start } from '../support/service/world.js';

export function limitTests(start: Start): void {
  test('limits: votes are limited to 10 per minute and agent, with headers', async () => {
    const world = await begin(start, 'spec');
    const ada = await world.join('Ada');
    // The block is unknown, which does not matter.
    const ballot = () => vote(ada, { block_hash: 'a'.repeat(64) });
    for (let used = 1; used <= 10; used += 1) {
      const { status: code, headers, text } = await world.send(ballot());
      expect(code, text).not.toBe(429);
      expect(headers.get('ratelimit-policy')).toBe('"vote";q=10;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"vote";r=${10 - used};t=\\d+$`));
    }
    const refused = await world.send(ballot());
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toBe(`"vote";r=0;t=${wait}`);
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
