/** A counter in etcd, which shows whether a write was lost or repeated, and its followers. */
import type { EtcdClient } from '../../../dist/cluster/etcd/client.js';
import { sleep } from '../../../dist/engine/store/host-clock.js';

export const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

/**
 * Increments a counter under a condition, so that a write with an unknown outcome is detected.
 * Reads must never go back.
 */
export async function count(client: EtcdClient, most: number): Promise<void> {
  let last = 0;
  for (;;) {
    try {
      const version = (await client.get('count'))?.version ?? 0;
      expect(version).toBeGreaterThanOrEqual(last);
      last = version;
      if (version >= most) return;
      const next = { put: 'count', value: String(version + 1) };
      await client.transact({ if: [{ key: 'count', is: '=', version }], do: [next] });
    } catch (error) {
      expect(error).toMatchObject({ kind: 'unavailable' });
      await sleep(client.clock, 50);
    }
  }
}

/** Follows `count` over several watches. Returns each version once, in order. */
export async function follow(client: EtcdClient, most: number): Promise<number[]> {
  const seen: number[] = [];
  for (let from = 1; seen.length < most; ) {
    try {
      for await (const { events } of client.watch('count', { from })) {
        for (const { version, value, modRevision } of events) {
          if (modRevision < from) continue;
          expect(value.toString()).toBe(String(version));
          seen.push(version);
          from = modRevision + 1;
        }
        if (seen.length >= most) break;
      }
    } catch (error) {
      expect(error).toMatchObject({ kind: 'unavailable' });
      await sleep(client.clock, 50);
    }
  }
  return seen;
}
