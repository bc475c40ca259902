/**
 * A queue in a simulated etcd. Each task is claimed by one worker, results are stored once, files
 * are complete, and everything is deleted with the host.
 */
import { randomBytes } from 'node:crypto';
import { type EtcdClient, Lease } from '../../../dist/cluster/etcd/client.js';
import { QueueClaims, taskName } from '../../../dist/cluster/queue/claims.js';
import { listQueues, QueueHost } from '../../../dist/cluster/queue/host.js';
import { simulatedEtcd } from '../../support/cluster/simulated.js';
import { seed } from '../../support/seeded.js';

const forever = new AbortController().signal;

async function hosted(client: EtcdClient): Promise<QueueHost> {
  const host = await QueueHost.open(client, forever);
  onTestFinished(() => host.close());
  await host.announce('{}');
  return host;
}

async function hand(client: EtcdClient): Promise<{ claims: QueueClaims; lease: Lease }> {
  const [queue] = await listQueues(client);
  const lease = await Lease.grant(client, 60);
  onTestFinished(() => lease.release());
  return {
    claims: new QueueClaims(client, queue!, randomBytes(8).toString('hex'), forever),
    lease,
  };
}

const tasks = (count: number) =>
  new Map(Array.from({ length: count }, (_, at) => [taskName(at + 1), `body ${at + 1}`]));

describe('queue', () => {
  test('queue: many workers claim each task once, and each result is collected once', async () => {
    const running = simulatedEtcd(seed);
    const host = await hosted(running.client());
    // Offers more tasks than fit into one transaction.
    await host.exchange({ offered: tasks(250) });
    const done = async () => {
      const { claims, lease } = await hand(running.client());
      const own: string[] = [];
      for (;;) {
        // Stores one result alone, or several results in one transaction.
        const claimed = await claims.claim(lease, own.length % 2 === 0 ? 5 : 1);
        if (claimed.length === 0) return own;
        for (const { task, body } of claimed) expect(body.toString()).toBe(`body ${Number(task)}`);
        own.push(...claimed.map(({ task }) => task));
        const done = claimed.map((claim) => ({ claim, text: `of ${claim.task}` }));
        const stored = claimed.map(() => 'stored');
        expect(await claims.storeAll(done)).toEqual(stored);
        // Repeats the call, as after a lost response.
        expect(await claims.storeAll(done)).toEqual(stored);
      }
    };
    const all = (await Promise.all([done(), done(), done()])).flat();
    expect(all.sort()).toEqual([...tasks(250).keys()]);
    const taken: string[] = [];
    for (let some = await host.exchange({}); some.length > 0; ) {
      for (const { name, value } of some) expect(value.toString()).toBe(`of ${name}`);
      const done = some.map(({ name }) => name);
      taken.push(...done);
      some = await host.exchange({ done });
    }
    expect([taken, await host.again()]).toEqual([[...tasks(250).keys()], []]);
  });

  test('queue: a worker that lost its claim stores a repeated result only', async () => {
    const running = simulatedEtcd(seed);
    const client = running.client();
    const host = await hosted(client);
    await host.exchange({ offered: tasks(1) });
    const [slow, quick] = [await hand(client), await hand(client)];
    const [lost] = await slow.claims.claim(slow.lease);
    expect(await quick.claims.claim(quick.lease, 2)).toEqual([]);
    await slow.lease.release();
    const [claim] = await quick.claims.claim(quick.lease);
    expect(claim).toMatchObject({ task: lost!.task, body: lost!.body });
    expect([await slow.claims.store(lost!, 'slow'), await host.exchange({})]).toEqual(['late', []]);
    expect(await quick.claims.store(claim!, 'quick')).toBe('stored');
    expect(await slow.claims.store(lost!, 'slow')).toBe('late');
    expect((await host.exchange({})).map(({ value }) => value.toString())).toEqual(['quick']);
    const [again] = await host.again();
    expect([again!.name.split('/')[0], again!.value.toString()]).toEqual([lost!.task, 'slow']);
    await host.reject(lost!.task);
    expect(await quick.claims.claim(quick.lease)).toMatchObject([{ task: lost!.task }]);
    await host.close();
    expect(await quick.claims.isThere()).toBe(false);
    expect(await quick.claims.store(claim!, 'quick')).toBe('gone');
    await quick.claims.leave();
    expect((await client.range({ prefix: 'folkmoot/' })).count).toBe(0);
  });

  test('queue: stores each of several results whose claim is still held', async () => {
    const running = simulatedEtcd(seed);
    const client = running.client();
    const host = await hosted(client);
    await host.exchange({ offered: tasks(3) });
    const { claims, lease } = await hand(client);
    const claimed = await claims.claim(lease, 8);
    expect(claimed.map(({ task }) => task).sort()).toEqual([...tasks(3).keys()]);
    const other = await hand(client);
    expect(await other.claims.claim(other.lease, 8)).toEqual([]);
    // A different worker has claimed one of the tasks.
    const [lost] = claimed;
    await host.reject(lost!.task);
    const [again] = await other.claims.claim(other.lease, 8);
    expect(again).toMatchObject({ task: lost!.task });
    const done = claimed.map((claim) => ({ claim, text: `of ${claim.task}` }));
    expect(await claims.storeAll(done)).toEqual(['late', 'stored', 'stored']);
    expect(await other.claims.storeAll([{ claim: again!, text: 'other' }])).toEqual(['stored']);
    const results = (await host.exchange({})).map(({ name, value }) => [name, value.toString()]);
    const expected = done.slice(1).map(({ claim, text }) => [claim.task, text]);
    expect(results.sort()).toEqual([...expected, [lost!.task, 'other']].sort());
  });

  test('queue: stores files completely, in pieces below the limit of etcd', async () => {
    const running = simulatedEtcd(seed);
    const client = running.client();
    const host = await hosted(client);
    const { claims } = await hand(client);
    for (const length of [0, 1, 1_048_576, 2_621_441]) {
      const file = randomBytes(length);
      await host.carry(`file-${length}`, file);
      expect((await claims.file(`file-${length}`)).equals(file), String(length)).toBe(true);
    }
    // Large bodies take separate transactions.
    const large = new Map([...tasks(3).keys()].map((name) => [name, name.padEnd(1_000_000, '.')]));
    await host.exchange({ offered: large });
    await host.close();
    expect(await listQueues(client)).toEqual([]);
  });
});
