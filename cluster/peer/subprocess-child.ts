/** Child process that copies a folder or checks a copy. See subprocess.ts. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { copyLmdbStore, openLmdbStore } from '../../engine/store/lmdb.js';
import { StoreError } from '../../engine/store/messages.js';
import type { Store } from '../../engine/store/store.js';
import { checkSnapshot, metaOf } from './check.js';
import { PeerError } from './proof.js';
import type {
  CheckTask,
  CopiedFiles,
  CopyTask,
  PeerFailure,
  SubprocessMessage,
  Task,
} from './subprocess.js';

const send = (message: SubprocessMessage) =>
  new Promise<void>((sent) => process.send!(message, () => sent()));

async function copy({ folder, to }: CopyTask): Promise<CopiedFiles> {
  await copyLmdbStore({ path: folder, tables }, to);
  const store = openCopy(to, false);
  const { network_id, order } = metaOf(store);
  await store.close();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(join(to, 'data.mdb'))) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const { log, version } = order;
  return { network: network_id, log, version, bytes, sha256: hash.digest('hex') };
}

function openCopy(path: string, whole: boolean): Store {
  return openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true, whole });
}

/** @throws {PeerError} */
async function check({ folder, expected, signatures }: CheckTask): Promise<null> {
  const store = openCopy(folder, true);
  const onProgress = (entries: number, of: number) => void send({ entries, of });
  try {
    await checkSnapshot(store, expected, { signatures, onProgress });
    return null;
  } finally {
    await store.close();
  }
}

/** A check reads only the snapshot, so a damaged store is a fault in the snapshot. */
function toFailure(error: unknown, task: Task): PeerFailure | null {
  if (error instanceof PeerError) return { problem: error.problem, values: error.values };
  if (task.do !== 'check' || !(error instanceof StoreError)) return null;
  return { problem: 'SNAPSHOT_UNREADABLE', values: { reason: error.message } };
}

process.on('disconnect', () => process.exit());
process.once('message', async (task: Task) => {
  try {
    await send({ done: task.do === 'copy' ? await copy(task) : await check(task) });
  } catch (error) {
    await send({ failed: toFailure(error, task), message: (error as Error).message });
  }
});
