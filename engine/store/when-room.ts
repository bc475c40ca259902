/** A commit that waits where the disk is full for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import { type Batch, type Store, StoreError } from './store.js';

/**
 * Commits; a batch that finds no room waits for it: nothing of it is written meanwhile.
 * @throws {StoreError} `FULL` when there is still none after `limits.roomPatienceMs`; and as
 * {@link Store.commit}.
 */
export async function commitWhenRoom(store: Store, batch: Batch): Promise<void> {
  const end = performance.now() + limits.roomPatienceMs;
  for (;;) {
    try {
      return await store.commit(batch);
    } catch (error) {
      const full = error instanceof StoreError && error.code === 'FULL';
      if (!full || performance.now() > end) throw error;
    }
    await sleep(limits.roomRetryMs);
  }
}
