/** A network in this process for the work of a case, gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier, Network, type VerifierKind, virtualClock } from '../../engine/index.js';
import { NETWORK_ID, START_MS } from './chain.js';

export interface Setting {
  verifier: VerifierKind;
  store: 'memory' | 'lmdb';
}

/** `path` is the network's folder, empty where it is in memory. */
export async function withNetwork<T>(
  { verifier: kind, store }: Setting,
  work: (network: Network, path: string) => Promise<T>,
): Promise<T> {
  return withFolder(async (path) => {
    const verifier = createVerifier(kind);
    const network = await Network.open({
      ...(store === 'memory' ? { memory: true } : { path }),
      genesis: { network_id: NETWORK_ID },
      verifier,
      clock: virtualClock(START_MS),
    });
    try {
      return await work(network, path);
    } finally {
      await network.close();
      await verifier.close();
    }
  });
}

/** A temporary folder for the work, removed after it. */
export async function withFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'folkmoot-bench-'));
  try {
    return await work(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
