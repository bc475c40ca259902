/** The etcd client at a simulated etcd whose members die, stall, lag and return. */
import { Lease } from '../../../dist/cluster/etcd/client.js';
import type { EtcdError } from '../../../dist/cluster/etcd/wire.js';
import type { SimulatedEtcd } from '../../../dist/cluster/simulated/etcd.js';
import { type HostClock, sleep } from '../../../dist/engine/store/host-clock.js';
import { count, follow, upTo } from '../../support/cluster/counter.js';
import { simulatedEtcd } from '../../support/cluster/simulated.js';
import { counts, heavy } from '../../support/counts.js';
import { drawnFrom, seed } from '../../support/seeded.js';

const failure = (call: Promise<unknown>): Promise<EtcdError> =>
  call.then(
    (value) => Promise.reject(new Error(`it did not fail: ${JSON.stringify(value)}`)),
    (error) => error as EtcdError,
  );

type Fault = (etcd: SimulatedEtcd, below: (below: number) => number) => () => void;

const faults: Record<string, Fault> = {
  stopped: (etcd, below) => {
    const member = below(etcd.endpoints.length);
    etcd.stop(member);
    return () => etcd.start(member);
  },
  paused: (etcd, below) => {
    const member = below(etcd.endpoints.length);
    etcd.pause(member);
    return () => etcd.resume(member);
  },
  deposed: (etcd) => {
    etcd.campaign();
    return () => {};
  },
  cut: (etcd, below) => {
    const hosts = ['n1', 'n2', 'n3', ...etcd.endpoints.map((_, at) => `m${at + 1}`)];
    const [from, to] = [hosts[below(hosts.length)]!, hosts[below(hosts.length)]!];
    if (from !== to) etcd.cut(from, to, below(2) === 0);
    return () => etcd.mend();
  },
  messages: (etcd, below) => {
    Object.assign(etcd.messages, {
      ...{ lost: below(10) / 100, repeated: below(30) / 100, reordered: below(50) / 100 },
      delayMs: below(300),
    });
    return () => Object.assign(etcd.messages, { lost: 0, repeated: 0, reordered: 0, delayMs: 0 });
  },
};

/** Causes faults for a while, two at a time at most. Then mends everything. */
async function trouble(etcd: SimulatedEtcd, clock: HostClock, drawn: number): Promise<void> {
  const below = drawnFrom(drawn);
  let undo: (() => void)[] = [];
  for (let step = 0; step < 12; step += 1) {
    const fault = Object.values(faults)[below(Object.keys(faults).length)]!;
    undo.push(fault(etcd, below));
    await sleep(clock, below(4_000));
    if (undo.length > 2 || below(2) === 0) {
      for (const end of undo) end();
      undo = [];
    }
  }
  for (const end of undo) end();
}

test(
  'etcd client: loses and repeats no write under random faults, and recovers',
  heavy,
  async () => {
    for (let run = 0; run < counts.etcdLives; run += 1) {
      const drawn = seed + run;
      const { etcd, clock, client } = simulatedEtcd(drawn, { members: 1 + (drawn % 5) });
      const troubled = trouble(etcd, clock, drawn);
      const most = 150;
      const [host, ...rest] = ['n1', 'n2', 'n3'].map((name) => client(name, { callMs: 2_000 }));
      const writers = [host!, ...rest].map((one) => count(one, most));
      const followers = rest.map((one) => follow(one, most));
      const all = Promise.all([Promise.all(followers), Promise.all(writers)]);
      const limit = troubled.then(() => sleep(clock, 60_000)).then(() => null);
      const done = await Promise.race([all, limit]);
      expect(done, `run ${run} of seed ${seed}: no progress after the faults`).not.toBe(null);
      expect(done![0], `run ${run} of seed ${seed}`).toEqual(rest.map(() => upTo(most)));
      clock.stop();
    }
  },
);

test('etcd client: equal seeds give equal runs', async () => {
  const trace = async () => {
    const { etcd, clock, client } = simulatedEtcd(seed, { members: 3 });
    const writing = count(client('n1'), 50);
    const following = follow(client('n2'), 50);
    await Promise.all([trouble(etcd, clock, seed), writing, following]);
    return [clock.monotonic(), etcd.leader, etcd.newest.revision];
  };
  expect(await trace()).toEqual(await trace());
});

test('etcd client: a write without any member is not done; calls recover', async () => {
  const { etcd, client } = simulatedEtcd(seed);
  const one = client();
  await one.put('count', '1');
  for (const at of [0, 1, 2]) etcd.stop(at);
  await expect
    .poll(() => one.put('lost', '').catch((error: EtcdError) => error.outcome))
    .toBe('not_done');
  const status = await one.status();
  expect(status.map(({ problem }) => problem)).toEqual(
    etcd.endpoints.map((endpoint) => expect.stringContaining(`etcd at ${endpoint}: `)),
  );
  for (const at of [0, 1, 2]) etcd.start(at);
  await expect.poll(() => one.get('count').catch(() => null)).toMatchObject({ version: 1 });
  expect(await one.get('lost')).toBe(null);
});

test('etcd client: writes fail as unavailable without a quorum', async () => {
  const { etcd, clock, client } = simulatedEtcd(seed);
  const one = client('n1', { callMs: 2_000 });
  for (const at of [1, 2]) etcd.stop(at);
  expect(await failure(one.put('k', ''))).toMatchObject({ kind: 'unavailable' });
  await sleep(clock, 3_000);
  const refused = await failure(one.put('k', ''));
  expect(refused).toMatchObject({ kind: 'unavailable', outcome: 'not_done' });
  // A serializable read still works on the remaining member.
  expect(await one.range('k', { serializable: true })).toMatchObject({ count: 0 });
});

test('etcd client: a member that is cut off serves old state, its watch is silent', async () => {
  const { etcd, client } = simulatedEtcd(seed);
  const behind = (etcd.leader! + 1) % 3;
  const others = ['m1', 'm2', 'm3'].filter((_, at) => at !== behind);
  const endpoints = [etcd.endpoints[behind]!];
  const stale = client('n1', { endpoints });
  const led = client('n2', { endpoints: etcd.endpoints.filter((_, at) => at !== behind) });
  await led.put('k', 'old');
  await expect.poll(() => stale.get('k')).toMatchObject({ version: 1 });
  const watch = stale.watch('k');
  await watch.next();
  for (const other of others) etcd.cut(`m${behind + 1}`, other, true);
  await led.put('k', 'new');
  expect(await stale.range('k', { serializable: true })).toMatchObject({
    values: [{ version: 1 }],
  });
  expect(await failure(stale.get('k'))).toMatchObject({ kind: 'unavailable' });
  etcd.mend();
  const { value } = await watch.next().catch(() => client().watch('k', { from: 3 }).next());
  expect(value!.events.length).toBeLessThan(2);
});

test('etcd client: a full disk refuses writes until its alarm is disarmed', async () => {
  const { client, etcd } = simulatedEtcd(seed, { quotaBytes: 1_000_000 });
  const one = client();
  let full: EtcdError | null = null;
  for (let at = 0; at < 20 && !full; at += 1) {
    full = await one.put(`k/${at}`, Buffer.alloc(100_000)).then(
      () => null,
      (error) => error as EtcdError,
    );
  }
  expect(full).toMatchObject({ kind: 'out_of_space', outcome: 'not_done' });
  const deleted = await one.delete({ prefix: 'k/' });
  expect(deleted).toBeGreaterThan(5);
  await one.compact((await one.range('k')).revision);
  etcd.full(false);
  await expect.poll(() => one.alarms()).toEqual([]);
  expect(await one.put('k', '')).toBeGreaterThan(deleted);
});

test('etcd client: a lease lasts while it is renewed, also over an election', async () => {
  const { clock, client, etcd } = simulatedEtcd(seed);
  const one = client();
  const lease = await Lease.grant(one, 8);
  await one.put('mine', 'yes', lease.id);
  await sleep(clock, 20_000);
  etcd.campaign();
  await sleep(clock, 20_000);
  expect(await one.get('mine')).toMatchObject({ lease: lease.id });
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
  expect(await one.get('mine')).toBe(null);
  expect(await failure(one.keepLease(lease.id))).toMatchObject({ kind: 'no_lease' });
  // A different client revokes the lease, and the holder notices.
  const other = await Lease.grant(one, 2);
  await one.revokeLease(other.id);
  await sleep(clock, 2_000);
  expect(other.lost.aborted).toBe(true);
});

test('etcd client: a holder that is cut off knows its lease lost before its keys are', async () => {
  const { clock, client, etcd } = simulatedEtcd(seed);
  const lease = await Lease.grant(client(), 5);
  await client('n2').put('mine', 'yes', lease.id);
  for (const member of ['m1', 'm2', 'm3']) etcd.cut('n1', member, true);
  let seconds = 0;
  for (; (await client('n2').get('mine')) !== null; seconds += 1) await sleep(clock, 100);
  expect(lease.lost.aborted).toBe(true);
  expect(seconds).toBeGreaterThan(10);
});
