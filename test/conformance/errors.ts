/**
 * Errors: the envelope, each code with its HTTP status, and versioning (sections 7 and 9 of the
 * interface).
 */
import { expect, test } from 'vitest';
import { signed, status } from '../support/service/signer.js';
import { begin, type Start } from '../support/service/world.js';

export function errorTests(start: Start): void {
  test('errors: errors and successes have unique request ids', async () => {
    const world = await begin(start);
    const answers = await Promise.all([
      world.get('/api/v1/nothing'),
      world.get('/api/v1/nothing'),
      world.get('/api/v1/network/state'),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  test('signatures: upper-case hex is accepted', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const { headers, ...rest } = status(ada, { status: 'active' });
    const upper = ['X-Agent-Public-Key', 'X-Agent-Signature'].map((name) => [
      name,
      headers[name]!.toUpperCase(),
    ]);
    await world.do({ ...rest, headers: { ...headers, ...Object.fromEntries(upper) } }, 200);
  });

  test('signatures: the request-target is signed as sent, including the query', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    for (const query of ['?x=1&y=%2F', '?a?b', '?=']) {
      const path = `/api/v1/agents/${ada.agentId}/status${query}`;
      await world.do(signed(ada, 'PUT', path, { status: 'active' }), 200);
    }
  });
}
