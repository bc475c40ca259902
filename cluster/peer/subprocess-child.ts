/** The child process that copies a folder, or checks a copy: see subprocess.ts. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createVerifier } from '../../engine/crypto/create-verifier.js';
import { splitStored } from '../../engine/protocol/log.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import { replay } from '../../engine/replay/replay.js';
import { copyLmdbStore, openLmdbStore } from '../../engine/store/lmdb.js';
import { type Store, StoreError, type StoreMeta } from '../../engine/store/store.js';
import { PeerError, type PeerErrorCode } from './proof.js';
import type {
  CheckTask,
  CopiedFiles,
  CopyTask,
  PeerDigest,
  SubprocessMessage,
  Task,
} from './subprocess.js';

const say = (said: SubprocessMessage) =>
  new Promise<void>((told) => process.send!(said, () => told()));

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

/** Of a network that goes by an order. */
function metaOf(store: Store): StoreMeta & Required<Pick<StoreMeta, 'order'>> {
  const meta = store.meta();
  if (meta?.order) return { ...meta, order: meta.order };
  throw new PeerError('OTHER_NETWORK', 'it holds no network of several nodes');
}

/** @throws {PeerError} */
async function check(task: CheckTask): Promise<null> {
  const { folder, network, log, epoch, version, own, told, signatures } = task;
  const store = openCopy(folder, true);
  try {
    const meta = metaOf(store);
    const is = [meta.network_id, meta.order.log, meta.epoch].join(', ');
    const expected = [network, log, epoch].join(', ');
    if (is !== expected) {
      const text = `it holds network, order and epoch ${is}, not ${expected}`;
      throw new PeerError('OTHER_NETWORK', text);
    }
    if (meta.order.version !== version) {
      throw new PeerError('UNSOUND', `it ends at batch ${meta.order.version}, not ${version}`);
    }
    for (const one of [own, ...told.filter(({ seq }) => seq <= meta.seq)]) assertSame(store, one);
    await assertFollows(store, meta, signatures);
    return null;
  } finally {
    await store.close();
  }
}

/** Digests are chains: the same one at an entry means the same all the way. */
function assertSame(store: Store, { who, seq, digest }: PeerDigest): void {
  const stored = store.entry(seq);
  const found = stored ? splitStored(stored).digest : 'none';
  if (found === digest) return;
  const text = `at entry ${seq} it has the digest ${found}, and ${who} ${digest}`;
  throw new PeerError('PARTED', `${text}: folkmoot replay tells which folder is damaged`);
}

/** Everything that is stored is computed anew from the log, and compared. */
async function assertFollows(store: Store, meta: StoreMeta, signatures: boolean): Promise<void> {
  const verifier = signatures ? createVerifier('pool') : undefined;
  const { match, first_divergence: first } = await replay({
    lines: storedLines(store, 0, meta.seq),
    stored: store,
    end: meta,
    ...(verifier ? { verifier } : {}),
    onProgress: (entries) => void say({ entries, of: meta.seq }),
  });
  await verifier?.close();
  if (match) return;
  const { what, seq } = first!;
  throw new PeerError('UNSOUND', `its ${what} of entry ${seq} does not follow from its log`);
}

/** Of a check the data is to blame: it is all that is read. */
function codeOf(error: unknown, task: Task): PeerErrorCode | null {
  if (error instanceof PeerError) return error.code;
  return task.do === 'check' && error instanceof StoreError ? 'UNSOUND' : null;
}

process.on('disconnect', () => process.exit());
process.once('message', async (task: Task) => {
  try {
    await say({ done: task.do === 'copy' ? await copy(task) : await check(task) });
  } catch (error) {
    await say({ failed: codeOf(error, task), message: (error as Error).message });
  }
});
