/**
 * Engine cases in this process: each command alone, the stages of one vote, and verification.
 * Commands are applied with 100, 1,000 and 10,000 validators, and the cost per command must stay
 * flat. A command can be applied only once and has prerequisites, so its CPU time is measured
 * directly instead of with benchmark.js.
 */

import { createVerifier, type VerifierKind } from '../../engine/crypto/create-verifier.js';
import type { Verifier, VerifyJob } from '../../engine/crypto/verifier.js';
import { parseJson } from '../../engine/protocol/json.js';
import { Digests } from '../../engine/protocol/log.js';
import { findBodyProblem } from '../../engine/protocol/schema/validate.js';
import { voteInput } from '../../engine/protocol/signing.js';
import { defineCase, type Round, type Row } from '../case.js';
import { withFolder } from '../fixtures/network.js';
import {
  createHistory,
  encodePast,
  kinds,
  measureCpuUs,
  type PastStep,
  Population,
  storeBefore,
  toBatches,
} from '../fixtures/population.js';
import {
  jobSource,
  measureRate,
  measureTime,
  type Rate,
  rateOver,
  verifyOrThrow,
} from '../raw/raw.js';

interface EngineOptions {
  populations: number[];
  /** Commands per kind. For votes, the number is rounded up to whole blocks. */
  commands: number;
}

async function measureEngine(
  { populations, commands }: EngineOptions,
  { seed }: Round,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds()) {
    const cost = async (validators: number, count = commands) =>
      measureCpuUs(kind, await Population.of(validators, seed), count);
    // Warms up, because the first population would otherwise include compilation.
    await cost(populations[0]!, 4 * commands);
    let first: number | null = null;
    for (const validators of populations) {
      const cpu_us = await cost(validators);
      first ??= cpu_us;
      const name = `${kind}, ${validators.toLocaleString('en-US')} validators`;
      rows.push({ name, per_s: 1e6 / cpu_us, cpu_us, ratio: first / cpu_us });
    }
  }
  return rows;
}

export const engineCase = defineCase<EngineOptions>({
  name: 'engine',
  about: 'engine.apply of each command; ratio: its rate relative to the fewest validators',
  sizes: {
    small: { populations: [100, 1_000, 10_000], commands: 500 },
    large: { populations: [100, 1_000, 10_000], commands: 10_000 },
  },
  run: measureEngine,
});

/*
 * Stages of one vote: each stage alone on the same signed votes, measured as CPU time across all
 * threads. The sum of the stages is the expected cost of a vote. The tier engine+verify+store in
 * `tiers` is the actual cost. The costs of responses and publishing are differences between tiers.
 */

interface StagesOptions {
  blocks: number;
  seconds: number;
}

const VALIDATORS = 1_000;
/** Typical commit size on a busy server. */
const BATCH = 128;

type Body = Record<string, unknown>;

async function measureStages({ blocks, seconds }: StagesOptions, { seed }: Round): Promise<Row[]> {
  const past = await createHistory(await Population.of(VALIDATORS, seed), blocks);
  const votes = past.filter(({ request }) => request.kind === 'vote');
  const requests = votes.map(({ request }) => request);
  const bodies = requests.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as Body);
  const own = ({ cpuUs }: Rate) => cpuUs;
  const jobs: (count: number) => VerifyJob[] = jobSource(seed);
  const stages: [name: string, cpuUs: number][] = [
    ['parse', own(rateOver(requests, ({ body }) => parseJson(body), seconds))],
    ['validate', own(rateOver(bodies, (body) => findBodyProblem('vote', body), seconds))],
    ['canonicalize', own(rateOver(bodies, voteInput, seconds))],
    ['verify', own(measureRate(jobs, verifyOrThrow(), seconds))],
    ['apply', await applyUs(votes.length, seed)],
    ['encode, both digests', own(encodingRate(votes, seconds))],
    [`commit, batches of ${BATCH}`, await commitUs(past)],
  ];
  const sum = stages.reduce((total, [, cpuUs]) => total + cpuUs, 0);
  return [...stages, ['sum of the stages', sum] as const].map(([name, cpu_us]) => ({
    name,
    cpu_us,
  }));
}

/**
 * Runs in a separate population that keeps no results, after one unmeasured run for compilation.
 */
async function applyUs(count: number, seed: string): Promise<number> {
  await measureCpuUs('vote', await Population.of(VALIDATORS, seed), count);
  return measureCpuUs('vote', await Population.of(VALIDATORS, seed), count);
}

function encodingRate(votes: readonly PastStep[], seconds: number): Rate {
  const digests = new Digests();
  return rateOver(votes, (one) => encodePast(one, digests), seconds);
}

/** CPU time per entry, including LMDB's threads. */
function commitUs(past: readonly PastStep[]): Promise<number> {
  const digests = new Digests();
  const batches = [
    ...toBatches(
      past.map((one) => encodePast(one, digests)),
      BATCH,
    ),
  ];
  return withFolder(async (path) => {
    const store = await storeBefore(path, batches[0]!);
    const { cpu } = await measureTime(async () => {
      for (const batch of batches) await store.commit(batch);
    });
    await store.close();
    return (cpu * 1e6) / (batches.length * BATCH);
  });
}

export const stagesCase = defineCase<StagesOptions>({
  name: 'stages',
  about: 'CPU time of one vote by stage, from parse to commit',
  sizes: { small: { blocks: 6, seconds: 0.2 }, large: { blocks: 30, seconds: 2 } },
  run: measureStages,
});

interface VerifyOptions {
  /**
   * Signatures per figure, for libsodium and for the reference implementation, which is about
   * twenty times slower.
   */
  signatures: number;
  referenceSignatures: number;
}

/** Concurrent calls, as from a busy server's clients. */
const CALLERS = 64;
const BATCHES = [16, 256];

async function measureVerification(asked: VerifyOptions, { r, seed }: Round): Promise<Row[]> {
  const jobs = jobSource(seed);
  const raw = measureRate(jobs, verifyOrThrow());
  const { perSecond, cpuUs } = raw;
  const name = 'libsodium in a plain loop';
  const rows: Row[] = [{ name, per_s: perSecond, of_r: perSecond / r, cpu_us: cpuUs }];
  for (const kind of ['inline', 'pool', 'reference'] as const) {
    const count = kind === 'reference' ? asked.referenceSignatures : asked.signatures;
    const rates = await ratesOf(kind, () => jobs(count));
    rows.push(...rates.map((row) => ({ ...row, of_r: (row.per_s ?? 0) / r })));
  }
  return rows;
}

/** @param further returns new signatures for each measurement. */
async function ratesOf(kind: VerifierKind, further: () => VerifyJob[]): Promise<Row[]> {
  const verifier = createVerifier(kind);
  // Start the threads before the measurement.
  await verifier.verify(further().slice(0, CALLERS));
  const rate = async (name: string, callers: number, batch: number): Promise<Row> => {
    const jobs = further();
    const { wall, cpu } = await measureTime(() => verifyAll(verifier, jobs, callers, batch));
    const cpu_us = (cpu * 1e6) / jobs.length;
    return { name: `${kind}, ${name}`, per_s: jobs.length / wall, cpu_us };
  };
  try {
    const rows = [
      await rate('one at a time', 1, 1),
      await rate(`${CALLERS} callers of one`, CALLERS, 1),
    ];
    for (const batch of BATCHES) rows.push(await rate(`calls of ${batch}`, 4, batch));
    return rows;
  } finally {
    await verifier.close();
  }
}

async function verifyAll(
  verifier: Verifier,
  jobs: readonly VerifyJob[],
  callers: number,
  batch: number,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < jobs.length) {
      const from = next;
      next += batch;
      const verdicts = await verifier.verify(jobs.slice(from, next));
      if (verdicts.includes(false)) throw new Error(`${verifier.name} rejects a valid signature`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

export const verifyCase = defineCase<VerifyOptions>({
  name: 'verify',
  about: 'the verifiers pool, inline and reference, single and in batches',
  sizes: {
    small: { signatures: 2_048, referenceSignatures: 128 },
    large: { signatures: 65_536, referenceSignatures: 2_048 },
  },
  run: measureVerification,
});
