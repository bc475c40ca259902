/** Sweeps whose runs are done by workers, and a look into the etcd that lies between. */
import { expect } from 'vitest';
import type { EtcdClient } from '../../../../dist/cluster/etcd/client.js';
import { type Begun, begin } from '../../../support/running-command.js';

/** Begins a worker that has one run at a time. */
export const worker = (url: string, ...args: string[]): Begun =>
  begin(['worker', '--queue', url, '--jobs', '1', '--lease-seconds', '2', ...args]);

/** Begins a sweep that others run. */
export const queued = (file: string, out: string, url: string, ...args: string[]): Begun =>
  begin(['sweep', file, '--out', out, '--queue', url, ...args]);

/** Keys of some kind, behind `folkmoot/queue/KIND/`. */
export async function keysOf(client: EtcdClient, kind: string): Promise<string[]> {
  const prefix = `folkmoot/queue/${kind}/`;
  const { values } = await client.range({ prefix }, { keysOnly: true });
  return values.map(({ key }) => key.slice(prefix.length));
}

/** The first key of some kind, when there is one. */
export async function firstOf(client: EtcdClient, kind: string): Promise<string> {
  await expect.poll(async () => (await keysOf(client, kind)).length).toBeGreaterThan(0);
  const [first] = await keysOf(client, kind);
  return first ?? firstOf(client, kind);
}

/** Claims a run for nobody: a sweep is not over before that key, which is given, is gone. */
export async function claimedByNobody(client: EtcdClient): Promise<string> {
  const claim = `folkmoot/queue/claim/${await firstOf(client, 'task')}`;
  await client.put(claim, 'nobody');
  return claim;
}

/** Stops a worker while it has a claim and no result for it: gives the claim. */
export async function stoppedWithClaim(client: EtcdClient, { child }: Begun): Promise<string> {
  for (;;) {
    const claim = await firstOf(client, 'claim');
    child.kill('SIGSTOP');
    // What it had sent before has come by now.
    const [held, stored] = [await keysOf(client, 'claim'), await keysOf(client, 'result')];
    if (held.includes(claim) && !stored.includes(claim)) return claim;
    child.kill('SIGCONT');
  }
}

/** Ends well, with what it said otherwise. */
export async function done({ ended, stderr }: Begun): Promise<void> {
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
}
