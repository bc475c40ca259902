/** Child process that copies a folder or checks a copy. See subprocess.ts. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createVerifier } from '../../engine/crypto/pool.js';
import { splitStored } from '../../engine/protocol/log.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import { replay } from '../../engine/replay/replay.js';
import { copyLmdbStore, openLmdbStore } from '../../engine/store/lmdb.js';
import { StoreError } from '../../engine/store/messages.js';
import type { Store, StoreMeta } from '../../engine/store/store.js';
import { PeerError } from './proof.js';
import type {
  CheckTask,
  CopiedFiles,
  CopyTask,
  PeerDigest,
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

/** @throws {PeerError} if the store does not belong to a cluster. */
function metaOf(store: Store): StoreMeta & Required<Pick<StoreMeta, 'order'>> {
  const meta = store.meta();
  if (meta?.order) return { ...meta, order: meta.order };
  throw new PeerError('NO_ORDER', {});
}

/** @throws {PeerError} */
async function check(task: CheckTask): Promise<null> {
  const { folder, network, log, epoch, version, own, told, signatures } = task;
  const store = openCopy(folder, true);
  try {
    const meta = metaOf(store);
    const found = [meta.network_id, meta.order.log, meta.epoch].join(', ');
    const expected = [network, log, epoch].join(', ');
    if (found !== expected) throw new PeerError('OTHER_NETWORK', { found, expected });
    if (meta.order.version !== version) {
      throw new PeerError('WRONG_END', { version: meta.order.version, expected: version });
    }
    for (const one of [own, ...told.filter(({ seq }) => seq <= meta.seq)]) assertSame(store, one);
    await assertFollows(store, meta, signatures);
    return null;
  } finally {
    await store.close();
  }
}

/** Digests are chained, so equal digests mean equal logs up to that entry. */
function assertSame(store: Store, { who, seq, digest }: PeerDigest): void {
  const stored = store.entry(seq);
  const found = stored ? splitStored(stored).digest : 'none';
  if (found !== digest) throw new PeerError('DIVERGED', { found, seq, who, digest });
}

/** Replays the log and compares the result with the stored state. */
async function assertFollows(store: Store, meta: StoreMeta, signatures: boolean): Promise<void> {
  const verifier = signatures ? createVerifier('pool') : undefined;
  const { match, first_divergence: first } = await replay({
    lines: storedLines(store, 0, meta.seq),
    stored: store,
    end: meta,
    ...(verifier ? { verifier } : {}),
    onProgress: (entries) => void send({ entries, of: meta.seq }),
  });
  await verifier?.close();
  if (match) return;
  const { what, seq } = first!;
  throw new PeerError('NOT_FROM_LOG', { what, seq });
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
