/** The cases: each gives one figure, measured on the whole path that it names. */
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createVerifier,
  GENESIS_HASH,
  Network,
  type Signatory,
  type VerifierKind,
  type VirtualClock,
  virtualClock,
} from '../engine/index.js';
import { block, registerAll, signatories } from './workload.js';

const START_MS = 1_735_689_600_000;

interface Setup {
  network: Network;
  clock: VirtualClock;
  by: Signatory[];
  path: string | undefined;
}

/** A network with registered validators, torn down after the work. */
async function withNetwork<T>(
  validators: number,
  verifierKind: VerifierKind,
  durable: boolean,
  work: (setup: Setup) => Promise<T>,
): Promise<T> {
  const path = durable ? await mkdtemp(join(tmpdir(), 'folkmoot-bench-')) : undefined;
  const clock = virtualClock(START_MS);
  const verifier = createVerifier(verifierKind);
  const network = await Network.open({
    ...(path === undefined ? { memory: true } : { path }),
    genesis: { network_id: 'bench' },
    verifier,
    clock,
  });
  try {
    const by = signatories(validators, verifierKind !== 'off');
    await registerAll(network, clock, by);
    return await work({ network, clock, by, path });
  } finally {
    await network.close();
    await verifier.close();
    if (path !== undefined) await rm(path, { recursive: true });
  }
}

/** Votes a second through engine, digests and a memory store: no signatures, one thread. */
export function engineRate(validators: number, blocks: number): Promise<number> {
  return withNetwork(validators, 'off', false, async ({ network, clock, by }) => {
    let parent = GENESIS_HASH;
    let votes = 0;
    let spentMs = 0;
    for (let count = 0; count < blocks; count += 1) {
      const next = await block(network, clock, by, parent);
      const verified = [];
      for (const request of next.votes) {
        const one = await network.verify(request);
        if ('refusal' in one) throw new Error(one.refusal.message);
        verified.push(one);
      }
      await network.durable;
      const start = performance.now();
      for (const one of verified) network.apply(one);
      await network.durable;
      spentMs += performance.now() - start;
      votes += verified.length;
      parent = next.hash;
    }
    return (votes * 1000) / spentMs;
  });
}

/** Signed votes a second: admitted, verified by a pool of 2, applied, durable in LMDB, answered. */
export function signedRate(
  validators: number,
  blocks: number,
): Promise<{ votesPerSecond: number; bytesPerVote: number }> {
  return withNetwork(validators, 'pool', true, async ({ network, clock, by, path }) => {
    const size = () => statSync(join(path!, 'data.mdb')).size;
    const before = size();
    let parent = GENESIS_HASH;
    let votes = 0;
    let spentMs = 0;
    for (let count = 0; count < blocks; count += 1) {
      const next = await block(network, clock, by, parent);
      const start = performance.now();
      await Promise.all(
        next.votes.map(async (request) => {
          const one = await network.verify(request);
          if ('refusal' in one) throw new Error(one.refusal.message);
          await network.submit(one);
        }),
      );
      spentMs += performance.now() - start;
      votes += next.votes.length;
      parent = next.hash;
    }
    return { votesPerSecond: (votes * 1000) / spentMs, bytesPerVote: (size() - before) / votes };
  });
}

/** Bytes of heap and buffers that an idle agent takes in a network kept on disk. */
export function agentBytes(agents: number): Promise<number> {
  const { gc } = globalThis;
  if (!gc) throw new Error('the case agent-memory needs node --expose-gc');
  const used = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  return withNetwork(0, 'off', true, async ({ network, clock }) => {
    const before = used();
    await registerAll(network, clock, signatories(agents, false));
    return (used() - before) / agents;
  });
}
