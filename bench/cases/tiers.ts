/** The first tiers: the same signed blocks through the engine, with verification, on disk. */
import type { Network, Signatory, SignedRequest } from '../../engine/index.js';
import { type CaseOf, defineCase, type Round } from '../case.js';
import { timed } from '../measure.js';
import { rawVerificationsOf } from '../raw.js';
import type { Row } from '../result.js';
import { chain, registerAll, requestsOf, signatories } from '../workload/chain.js';
import { type Setting, withNetwork } from '../workload/network.js';
import { expectAccepted, passAll } from '../workload/pass.js';

const VALIDATORS = 1_000;
/** The pool's default: as many as R is compared with in the server. */
const THREADS = 2;

interface Configuration {
  blocks: number;
  /** Of 10,000 validators. */
  largeBlocks: number;
}

async function run(asked: Configuration, { r, seed }: Round): Promise<Row[]> {
  const limit = await rawVerificationsOf(THREADS, seed);
  const engine = await engineOnly(VALIDATORS, asked.blocks, seed);
  const large = await engineOnly(10_000, asked.largeBlocks, seed);
  const verifying = await signed('memory', asked.blocks, seed);
  const storing = await signed('lmdb', asked.blocks, seed);
  return [
    { name: 'libsodium alone, 1 core: R', per_s: r, of_r: 1, cpu_us: 1e6 / r },
    { name: `libsodium alone, ${THREADS} threads: the limit`, per_s: limit, of_r: limit / r },
    { name: 'engine', ...figures(engine, r) },
    { name: 'engine+verify', ...figures(verifying, r, engine) },
    { name: 'engine+verify+store', ...figures(storing, r, verifying) },
    { name: 'engine, 1,000 validators: votes/s of R', ratio: engine.rate / r, wanted: 1.7 },
    { name: 'engine, 10,000 validators of 1,000', ratio: large.rate / engine.rate, wanted: 0.75 },
    { name: 'engine+verify+store: votes/s of R', ratio: storing.rate / r, wanted: 0.8 },
  ];
}

function figures({ rate, cpu_us }: Measured, r: number, previous?: Measured) {
  const share = previous ? { of_previous: rate / previous.rate } : {};
  return { per_s: rate, of_r: rate / r, ...share, cpu_us };
}

interface Measured {
  /** Requests a second. */
  rate: number;
  cpu_us: number;
}

/** Applied, encoded, digested, kept in memory: admitted and verified before the time runs. */
function engineOnly(validators: number, blocks: number, seed: string): Promise<Measured> {
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
function signed(store: Setting['store'], blocks: number, seed: string): Promise<Measured> {
  const by = signatories(seed, VALIDATORS, true);
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
    const { wall, cpu } = await timed(await work(network, requests));
    return { rate: requests.length / wall, cpu_us: (cpu * 1e6) / requests.length };
  });
}

const tiers: CaseOf<Configuration> = {
  name: 'tiers',
  about: 'the same signed votes through ever more of the server, beside libsodium alone',
  everyRound: true,
  sizes: { small: { blocks: 15, largeBlocks: 2 }, large: { blocks: 60, largeBlocks: 6 } },
  run,
};

export const tiersCase = defineCase(tiers);
