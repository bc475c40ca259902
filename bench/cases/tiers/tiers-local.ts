/** The tiers in this process: signed blocks through the engine, with verification, on disk. */
import type { Network, Signatory, SignedRequest } from '../../../engine/internal.js';
import { chain, registerAll, requestsOf, signatories } from '../../fixtures/chain.js';
import { type Setting, withNetwork } from '../../fixtures/network.js';
import { expectAccepted, passAll } from '../../fixtures/pass.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

export interface Measured {
  /** Requests a second. */
  rate: number;
  /** CPU time of a request, all threads. */
  cpu_us: number;
  /** How large the batches of the verifier and the commits were. */
  batches: Row[];
}

/** Applied, encoded, digested, kept in memory: admitted and verified before the time runs. */
export function engineOnly(validators: number, blocks: number, seed: string): Promise<Measured> {
  const setting = { verifier: 'off', store: 'memory' } as const;
  return prepared(setting, signatories(seed, validators, false), blocks, async (network, all) => {
    const verified = await Promise.all(all.map((request) => network.verify(request)));
    return async () => {
      for (const one of verified) {
        if ('refusal' in one) throw new Error(one.refusal.message);
        if (network.backlog >= 8_192) await network.durable;
        expectAccepted(network.apply(one).outcome);
      }
      await network.durable;
    };
  });
}

/** From bytes to durable: admitted, verified by the pool, applied, committed. */
export function signed(
  store: Setting['store'],
  validators: number,
  blocks: number,
  seed: string,
): Promise<Measured> {
  const by = signatories(seed, validators, true);
  return prepared({ verifier: 'pool', store }, by, blocks, async (network, all) => {
    return () => passAll(network, all);
  });
}

/** Registers and signs ahead; only what `work` gives is measured. */
function prepared(
  setting: Setting,
  by: readonly Signatory[],
  blocks: number,
  work: (network: Network, requests: SignedRequest[]) => Promise<() => Promise<void>>,
): Promise<Measured> {
  return withNetwork(setting, async (network) => {
    await registerAll(network, by);
    const requests = requestsOf(chain(by), blocks);
    const measured = await work(network, requests);
    const before = network.stats;
    const sizesBefore = { verify: [...before.batchSizes], commit: [...before.commitSizes] };
    const { wall, cpu } = await timed(measured);
    const { batchSizes, commitSizes } = network.stats;
    const batches = [
      {
        name: 'in process: signatures in a verification batch',
        batch_sizes: since(batchSizes, sizesBefore.verify),
      },
      {
        name: 'in process: entries in a commit',
        batch_sizes: since(commitSizes, sizesBefore.commit),
      },
    ];
    return { rate: requests.length / wall, cpu_us: (cpu * 1e6) / requests.length, batches };
  });
}

/** What was counted since. */
const since = (sizes: readonly number[], before: readonly number[]): number[] =>
  sizes.map((count, slot) => count - (before[slot] ?? 0));
