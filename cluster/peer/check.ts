/** Checks that a snapshot follows from its own log, and agrees with the logs of all nodes. */
import { createVerifier } from '../../engine/crypto/pool.js';
import { splitStored } from '../../engine/protocol/log.js';
import { storedLines } from '../../engine/replay/lines.js';
import { replay } from '../../engine/replay/replay.js';
import type { Store, StoreMeta } from '../../engine/store/store.js';
import { PeerError } from './proof.js';

/** Digest at an entry, as reported by a node. */
interface PeerDigest {
  who: string;
  seq: number;
  /** Hex. */
  digest: string;
}

/** Position and digests that a snapshot must contain. */
export interface ExpectedSnapshot {
  network: string;
  log: string;
  epoch: string;
  version: number;
  /** End of this node's log, which the snapshot must contain. */
  own: PeerDigest;
  /** Digests reported by other nodes. Digests at later entries are ignored. */
  told: readonly PeerDigest[];
}

/** @throws {PeerError} if the store does not belong to a cluster. */
export function metaOf(store: Store): StoreMeta & Required<Pick<StoreMeta, 'order'>> {
  const meta = store.meta();
  if (meta?.order) return { ...meta, order: meta.order };
  throw new PeerError('NO_ORDER', {});
}

/**
 * @param signatures verifies every signature too.
 * @throws {PeerError}
 */
export async function checkSnapshot(
  store: Store,
  { network, log, epoch, version, own, told }: ExpectedSnapshot,
  {
    signatures,
    onProgress,
  }: { signatures: boolean; onProgress(entries: number, of: number): void },
): Promise<void> {
  const meta = metaOf(store);
  const found = [meta.network_id, meta.order.log, meta.epoch].join(', ');
  const expected = [network, log, epoch].join(', ');
  if (found !== expected) throw new PeerError('OTHER_NETWORK', { found, expected });
  if (meta.order.version !== version) {
    throw new PeerError('WRONG_END', { version: meta.order.version, expected: version });
  }
  for (const one of [own, ...told.filter(({ seq }) => seq <= meta.seq)]) assertSame(store, one);
  const verifier = signatures ? createVerifier('pool') : undefined;
  const { match, first_divergence: first } = await replay({
    lines: storedLines(store, 0, meta.seq),
    stored: store,
    end: meta,
    ...(verifier ? { verifier } : {}),
    onProgress: (entries) => onProgress(entries, meta.seq),
  });
  await verifier?.close();
  if (match) return;
  const { what, seq } = first!;
  throw new PeerError('NOT_FROM_LOG', { what, seq });
}

/** Digests are chained, so equal digests mean equal logs up to that entry. */
function assertSame(store: Store, { who, seq, digest }: PeerDigest): void {
  const stored = store.entry(seq);
  const found = stored ? splitStored(stored).digest : 'none';
  if (found !== digest) throw new PeerError('DIVERGED', { found, seq, who, digest });
}
