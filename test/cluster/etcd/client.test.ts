/** Leases and alarms at a simulated etcd. The swarm of simulated clusters tests all other calls. */
import { Lease } from '../../../dist/cluster/etcd/client.js';
import { sleep } from '../../../dist/engine/store/host-clock.js';
import { simulatedEtcd } from '../../support/cluster/simulated.js';
import { seed } from '../../support/seeded.js';

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
  await expect(one.keepLease(lease.id)).rejects.toMatchObject({ kind: 'no_lease' });
  // A different client revokes the lease, and the holder notices.
  const other = await Lease.grant(one, 2);
  await one.revokeLease(other.id);
  await sleep(clock, 2_000);
  expect(other.lost.aborted).toBe(true);
});

test('etcd client: an etcd that is freed disarms an alarm that is raised late', async () => {
  const { clock, client, etcd } = simulatedEtcd(seed);
  const one = client();
  for (let ms = 0; ms < 10; ms += 0.5) {
    etcd.full(true);
    const asked = one.put('k', '').catch(() => null);
    await sleep(clock, ms);
    etcd.full(false);
    await asked;
    await sleep(clock, 3_000);
    expect(await one.alarms()).toEqual([]);
  }
});

test('etcd client: a holder that is cut off knows its lease lost before its keys are', async () => {
  const { clock, client, etcd } = simulatedEtcd(seed);
  const lease = await Lease.grant(client(), 5);
  await client('n2').put('mine', 'yes', lease.id);
  for (const member of ['m1', 'm2', 'm3']) etcd.links.cut('n1', member, true);
  let seconds = 0;
  for (; (await client('n2').get('mine')) !== null; seconds += 1) await sleep(clock, 100);
  expect(lease.lost.aborted).toBe(true);
  expect(seconds).toBeGreaterThan(10);
});
