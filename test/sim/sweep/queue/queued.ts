/** Sweeps whose runs are executed by workers, and access to the etcd queue between them. */
import { join } from 'node:path';
import type { EtcdClient } from '../../../../dist/cluster/etcd/client.js';
import { etcd, etcdClient } from '../../../support/etcd.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { type Begun, begin } from '../../../support/running-command.js';

/** Starts etcd, and names a folder for the output of a sweep. */
export async function startQueue() {
  const running = await etcd();
  return { running, client: etcdClient(running), out: join(temporaryFolder(), 'out') };
}

/** Starts a worker that executes one run at a time. */
export const worker = (url: string, ...args: string[]): Begun =>
  begin(['worker', '--queue', url, '--jobs', '1', '--lease-seconds', '2', ...args]);

export const queued = (file: string, out: string, url: string, ...args: string[]): Begun =>
  begin(['sweep', file, '--out', out, '--queue', url, ...args]);

/** Keys of a kind, without the prefix `folkmoot/queue/KIND/`. */
export async function keysOf(client: EtcdClient, kind: string): Promise<string[]> {
  const prefix = `folkmoot/queue/${kind}/`;
  const { values } = await client.range({ prefix }, { keysOnly: true });
  return values.map(({ key }) => key.slice(prefix.length));
}

/** Waits for a key of a kind and returns the first. */
export async function firstOf(client: EtcdClient, kind: string): Promise<string> {
  await expect.poll(async () => (await keysOf(client, kind)).length).toBeGreaterThan(0);
  const [first] = await keysOf(client, kind);
  return first ?? firstOf(client, kind);
}

/** Claims a run without a worker; the sweep cannot end before the returned key is deleted. */
export async function claimWithoutWorker(client: EtcdClient): Promise<string> {
  const claim = `folkmoot/queue/claim/${await firstOf(client, 'task')}`;
  await client.put(claim, 'no worker');
  return claim;
}

/** Stops a worker that has a claim without a result; returns the claim. */
export async function stoppedWithClaim(client: EtcdClient, { child }: Begun): Promise<string> {
  for (;;) {
    const claim = await firstOf(client, 'claim');
    child.kill('SIGSTOP');
    // Everything that the worker sent earlier has arrived by now.
    const [held, stored] = [await keysOf(client, 'claim'), await keysOf(client, 'result')];
    if (held.includes(claim) && !stored.includes(claim)) return claim;
    child.kill('SIGCONT');
  }
}

/** Rejects if a worker ends, because a sweep without workers waits forever. */
export async function neverEnds({ ended, stderr }: Begun): Promise<never> {
  const { code, signal } = await ended;
  throw new Error(`worker ended with ${code ?? signal}: ${stderr()}`);
}

/** Expects exit code 0; shows stderr if it differs. */
export async function done({ ended, stderr }: Begun): Promise<void> {
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
}
