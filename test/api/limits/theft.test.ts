import { oneTransport, timedWorld } from '../../support/service/server.js';
import { type Agent, discuss, propose, type Request, vote } from '../../support/service/signer.js';
import { type Answer, expectError } from '../../support/service/world.js';

const HASH = 'a'.repeat(64);
const left = ({ headers }: Answer) => headers.get('ratelimit');

/** Requests that are refused despite a valid signature, with the name and size of their quota. */
const captured: [string, number, string, (by: Agent, at: string) => Request][] = [
  ['propose', 5, 'STALE_PARENT', (by, at) => propose(by, { parent_hash: HASH }, at)],
  ['vote', 10, 'UNKNOWN_BLOCK', (by, at) => vote(by, { block_hash: HASH }, at)],
  ['discuss', 20, 'UNKNOWN_BLOCK', (by, at) => discuss(by, { block_hash: HASH }, at)],
];

describe.each(oneTransport)('replays over %s', (transport) => {
  const begin = async () => {
    const timed = await timedWorld({ transport });
    return { ...timed, ada: await timed.join('Ada') };
  };

  test.each(captured)('%s: replays leave the quota of %i', async (name, most, reason, of) => {
    const { there, ada, at, pass } = await begin();
    const request = of(ada, at());
    expect(left(await there.send(request))).toMatch(new RegExp(`^"${name}";r=${most - 1};`));
    for (let times = 0; times < 100; times += 1) {
      const answer = await there.send(request);
      expectError(answer, answer.status, 'INVALID_REQUEST', reason);
      expect(left(answer)).toMatch(/^"read";r=/);
    }
    pass(1);
    const fresh = await there.send(of(ada, at()));
    expect(left(fresh)).toMatch(new RegExp(`^"${name}";r=${most - 2};`));
  });

  test('50 concurrent copies of a refused request charge its agent once', async () => {
    const { there, ada, at, pass } = await begin();
    const request = propose(ada, { parent_hash: HASH }, at());
    await Promise.all(Array.from({ length: 50 }, () => there.send(request)));
    pass(1);
    const fresh = await there.send(propose(ada, { parent_hash: HASH }, at()));
    expect(left(fresh)).toMatch(/^"propose";r=3;/);
  });

  test('replays charge the address while the signature is fresh, for twice the skew', async () => {
    const { there, ada, at, pass } = await begin();
    const ahead = new Date(Date.parse(at()) + 299_000).toISOString();
    const request = vote(ada, { block_hash: HASH }, ahead);
    await there.send(request);
    pass(598_000);
    expect(left(await there.send(request))).toMatch(/^"read";/);
    pass(1);
    expect(left(await there.send(vote(ada, { block_hash: HASH }, at())))).toMatch(/^"vote";r=9;/);
  });

  test('a repeat of a refused request is checked against the current state', async () => {
    const { there, ada, at, pass } = await begin();
    const { head_hash } = await there.read('/api/v1/network/state');
    const first = propose(ada, { parent_hash: head_hash }, at());
    pass(1);
    const second = propose(ada, { parent_hash: head_hash, transactions: [] }, at());
    const { block_hash } = await there.do(first);
    expectError(await there.send(second), 409, 'INVALID_REQUEST', 'OPEN_BLOCK');
    await there.do(vote(ada, { block_hash, decision: 'reject' }, at()));
    pass(60_000);
    // The request was refused earlier and is accepted now. It was charged at the first attempt.
    expect((await there.send(second)).status).toBe(201);
  });

  test('replays beyond the read limit of the address get 429', async () => {
    const { there, ada, at } = await begin();
    const request = propose(ada, { parent_hash: HASH }, at());
    for (let round = 0; round < 7; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => there.send(request)));
    }
    const refused = await there.send(request);
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(refused.error.details.limit).toBe('read');
  });
});
