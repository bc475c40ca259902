/** Resuming events without gap or overlap, even after a restart. */
import { describe, expect, test } from 'vitest';
import type { Message } from '../../support/service/live.js';
import { connect } from '../../support/service/live.js';
import { type Around, oneTransport, world } from '../../support/service/server.js';
import { meme, status } from '../../support/service/signer.js';

const seqs = (messages: readonly Message[]) => messages.map(({ seq }) => seq);
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.each(oneTransport)('resume over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, ...around });

  test('since: replays missed events, then continues, each once', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    for (let count = 2; count <= 20; count += 1) await there.join(`agent ${count}`);
    const live = await connect(there.wsUrl);
    const { epoch, last_seq } = await live.auth(ada);
    expect(last_seq).toBe(20);
    expect(await live.subscribe(['network'], { epoch, seq: 5 })).toMatchObject({
      replay: 15,
      gap: false,
      last_seq: 20,
    });
    await there.join('One more');
    expect(seqs(await live.settled())).toEqual(range(6, 21));
  });

  test('since: has no gap and no overlap while events are published', async () => {
    const there = await begin();
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

  test('since: replays only events of the topics', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    await there.do(meme(ada, { file: 'Hi' }));
    await there.do(status(ada, { status: 'active' }), 200);
    const live = await connect(there.wsUrl);
    const { epoch } = await live.auth(ada);
    const answer = await live.subscribe(['memes', 'social'], { epoch, seq: 0 });
    expect(answer).toMatchObject({ replay: 1, gap: false });
    expect(await live.settled()).toMatchObject([{ type: 'meme_posted', seq: 2 }]);
  });

  test('since: is allowed only in the first subscribe', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const live = await there.listen(ada, ['blocks']);
    const { epoch } = await there.read('/api/v1/meta');
    live.send({ type: 'subscribe', topics: ['network'], since: { epoch, seq: 0 } });
    expect(await live.next()).toMatchObject({ type: 'error', error: { code: 'INVALID_REQUEST' } });
    expect(await live.subscribe(['social'])).toMatchObject({ topics: ['blocks', 'social'] });
  });

  test('since: is still allowed after a refused subscribe', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const live = await there.listen(ada);
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

  test('since: the head is not a gap and replays nothing', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const live = await connect(there.wsUrl);
    const { epoch } = await live.auth(ada);
    const answer = await live.subscribe(['network'], { epoch, seq: 1 });
    expect(answer).toMatchObject({ gap: false, replay: 0 });
    await there.join('Bob');
    expect(seqs(await live.settled())).toEqual([2]);
  });

  test('topics: an event of two topics arrives once; seq increases strictly', async () => {
    const there = await begin();
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
