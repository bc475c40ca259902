/** Watching without a key over both transports: frames, gaps and limits. */
import { createVerifier } from 'folkmoot';
import { rowKinds } from '../../../dist/api/view/model.js';
import { testsWith } from '../../support/fixture.js';
import { connect } from '../../support/service/live.js';
import { type Around, transports, world } from '../../support/service/server.js';
import { auth } from '../../support/service/signer.js';
import { Watching } from '../../support/service/watching.js';

const verifier = createVerifier('pool');
afterAll(() => verifier.close());

const errorOf = (code: string, reason: string) => ({
  type: 'error',
  error: { code, details: expect.objectContaining({ reason }) },
});

describe.each(transports)('watch over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, verifier, ...around });
  const check = testsWith(() => begin());
  type There = Awaited<ReturnType<typeof begin>>;
  const seqOf = async (there: There) => Number((await there.read('/api/v1/meta')).seq);

  /** Registers three agents, which decide a block. */
  async function decide(there: There) {
    const [ada, bob, eve] = await there.joinAll('Ada', 'Bob', 'Eve');
    const hash = await there.propose(ada!);
    for (const by of [ada, bob, eve]) {
      await there.vote(by!, hash, { decision: 'approve', reason: 'it adds up' });
    }
    return hash;
  }

  check('frames: follow without a gap, and end at the digest of the network', async (there) => {
    const watching = await Watching.begin(there.wsUrl);
    const { epoch } = await there.read('/api/v1/meta');
    expect(await watching.text('watching')).toEqual({ type: 'watching', entry: 0, epoch });
    const hash = await decide(there);
    const { seq, digest, log_digest, event_seq } = await there.read('/api/v1/meta');
    const batches = await watching.reaches(Number(seq));
    let next = 1;
    for (const { from, to } of batches) {
      expect(from).toBe(next);
      next = to + 1;
    }
    expect(batches.at(-1)).toMatchObject({ to: seq, digest, log_digest, event_seq });
    const kinds = batches.flatMap(({ rows }) => [...rows.kind].map((kind) => rowKinds[kind]));
    expect(kinds.filter((kind) => kind === 'registered')).toHaveLength(3);
    expect(kinds.filter((kind) => kind === 'block_validation')).toHaveLength(3);
    const introduced = batches.flatMap((batch) => batch.introduced.blocks);
    expect(introduced).toMatchObject([{ hash, total: 3, needed: 3, electors: 3 }]);
    expect(batches.flatMap(({ said }) => said).map(({ text }) => text)).toContain('it adds up');
    expect(batches.flatMap(({ introduced: { agents } }) => agents.map(({ name }) => name))).toEqual(
      ['Ada', 'Bob', 'Eve'],
    );
  });

  check('frames: are equal for all watchers, at any interval', async (there) => {
    const two = [await Watching.begin(there.wsUrl), await Watching.begin(there.wsUrl)];
    const seldom = await Watching.begin(there.wsUrl, { every_ms: 1_000 });
    for (const one of [...two, seldom]) await one.text('watching');
    await decide(there);
    const seq = await seqOf(there);
    for (const one of [...two, seldom]) await one.reaches(seq);
    const bytesOf = ({ all }: Watching) =>
      all.flatMap((shown) => ('bytes' in shown ? [shown.bytes.toString('hex')] : []));
    expect([bytesOf(two[1]!), bytesOf(seldom)]).toEqual([bytesOf(two[0]!), bytesOf(two[0]!)]);
  });

  check('since: continues with cached frames, or reports what was skipped', async (there) => {
    await there.joinAll('Ada', 'Bob');
    const first = await Watching.begin(there.wsUrl, { since: 0 });
    expect(await first.text('watching')).toMatchObject({ entry: 2 });
    expect(await first.text('skipped')).toEqual({ type: 'skipped', from: 1, to: 2 });
    await there.join('Eve');
    await first.reaches(3);
    await there.join('Mia');
    await first.reaches(4);
    // The first watcher is still watching, so these frames are cached.
    const again = await Watching.begin(there.wsUrl, { since: 3 });
    expect((await again.reaches(4))[0]).toMatchObject({ from: 4, to: 4 });
    const whole = await Watching.begin(there.wsUrl, { since: 2 });
    expect((await whole.reaches(4)).map(({ from }) => from)).toEqual([3, 4]);
    expect(whole.texts.map(({ type }) => type)).toEqual(['watching']);
    // An entry that does not exist, for example from a different history.
    const other = await Watching.begin(there.wsUrl, { since: 4_000_000 });
    expect(await other.text('watching')).toMatchObject({ entry: 4 });
    await there.join('Tom');
    expect((await other.reaches(5))[0]).toMatchObject({ from: 5, to: 5 });
  });

  test('refuses auth after watch, watch after auth and a second watch, and continues', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const watching = await Watching.begin(there.wsUrl);
    await watching.text('watching');
    for (const message of [
      auth(ada),
      { type: 'watch' },
      { type: 'subscribe', topics: ['blocks'] },
      { type: 'unsubscribe', topics: ['blocks'] },
    ]) {
      const before = watching.texts.length;
      watching.send(message);
      await watching.until(({ texts }) => texts.length > before);
      expect(watching.texts.at(-1)).toMatchObject(errorOf('INVALID_REQUEST', 'SCHEMA'));
    }
    watching.send({ type: 'ping', id: 7 });
    expect(await watching.text('pong')).toMatchObject({ data: { id: 7 } });
    await there.join('Bob');
    await watching.reaches(2);

    const live = await there.listen(ada, ['network']);
    live.send({ type: 'watch' });
    expect(await live.next()).toMatchObject(errorOf('INVALID_REQUEST', 'SCHEMA'));
    const both = await connect(there.wsUrl);
    both.send(auth(ada));
    both.send({ type: 'watch' });
    expect(await both.next()).toMatchObject({ type: 'auth_ok' });
    expect(await both.next()).toMatchObject(errorOf('INVALID_REQUEST', 'SCHEMA'));
  });

  test.each([
    ['garbage', 'garbage'],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['a negative entry', '{"type":"watch","since":-2}'],
    ['half an entry', '{"type":"watch","since":0.5}'],
    ['no time between frames', '{"type":"watch","every_ms":0}'],
    ['an hour between frames', '{"type":"watch","every_ms":3600000}'],
  ])('%s, three times: closes with 4400', async (_, message) => {
    const there = await begin();
    const watching = await new Watching(there.wsUrl).opened();
    for (let time = 0; time < 3; time += 1) watching.send(message);
    expect((await watching.closed).code).toBe(4400);
    expect(watching.texts).toHaveLength(3);
    expect(watching.texts[0]).toMatchObject(errorOf('INVALID_REQUEST', 'SCHEMA'));
  });

  test('limits an address to 32 watchers; a closed one frees its place', async () => {
    const there = await begin({ limits: 'spec' });
    const all: Watching[] = [];
    for (let count = 0; count < 32; count += 1) {
      all.push(await Watching.begin(there.wsUrl));
      await all.at(-1)!.text('watching');
    }
    const beyond = await Watching.begin(there.wsUrl);
    expect((await beyond.closed).code).toBe(4430);
    expect(beyond.texts).toMatchObject([errorOf('RATE_LIMITED', 'QUOTA_USED')]);
    all[0]!.socket.close();
    await all[0]!.closed;
    const next = await Watching.begin(there.wsUrl);
    expect(await next.text('watching')).toMatchObject({ entry: 0 });
  });

  test('refuses watching if disabled, but serves agents', async () => {
    const there = await begin({ server: { watch: false } });
    const watching = await Watching.begin(there.wsUrl);
    expect((await watching.closed).code).toBe(4405);
    expect(watching.texts).toMatchObject([errorOf('INVALID_REQUEST', 'NO_WATCH')]);
    await there.listen(await there.join('Ada'), ['network']);
  });

  check('leaves nothing behind after many connections', async (there) => {
    for (let round = 0; round < 20; round += 1) {
      const some = await Promise.all(
        Array.from({ length: 25 }, () => Watching.begin(there.wsUrl, { since: -1 })),
      );
      if (round % 2 === 0) for (const one of some) await one.text('watching');
      for (const one of some) one.socket.terminate();
    }
    const metric = async (name: string) => {
      const { text } = await there.get('/metrics');
      return Number(new RegExp(`^folkmoot_${name} (.*)$`, 'm').exec(text)?.[1]);
    };
    while ((await metric('ws_connections')) > 0) await there.read('/api/v1/meta');
    expect(await metric('ws_watchers')).toBe(0);
    const last = await Watching.begin(there.wsUrl);
    await last.text('watching');
    await there.join('Ada');
    await last.reaches(1);
    expect(await metric('ws_watchers')).toBe(1);
    expect(await metric('ws_frames_total')).toBeGreaterThan(0);
  });

  check('closes when the server stops', async (there) => {
    const watching = await Watching.begin(there.wsUrl);
    await watching.text('watching');
    await decide(there);
    await there.close();
    expect((await watching.closed).code).toBe(1001);
  });
});
