/** What may be done twice is asked again until etcd answers, or until nobody wants it any more. */
import { setTimeout as pause } from 'node:timers/promises';
import { EtcdError } from '../etcd/index.js';

const PAUSE_MS = { first: 100, most: 2_000 } as const;

/** Nobody wants it any more. */
export class Ended extends Error {
  override name = 'Ended';
}

/**
 * @throws {Ended} when `signal` aborts.
 * @throws {EtcdError} of any kind but `unavailable`.
 */
export async function persist<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  let pauseMs: number = PAUSE_MS.first;
  for (;;) {
    if (signal.aborted) throw new Ended('it has ended');
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== 'unavailable') throw error;
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(PAUSE_MS.most, 2 * pauseMs);
  }
}
