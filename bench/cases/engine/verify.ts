/** The three verifiers, one signature at a time and in batches, beside the raw library. */
import {
  createVerifier,
  type Verifier,
  type VerifierKind,
  type VerifyJob,
} from '../../../engine/internal.js';
import { defineCase, type Round } from '../../case.js';
import { jobSource } from '../../raw/jobs.js';
import { rateOf, timed } from '../../raw/measure.js';
import { verifyOrThrow } from '../../raw/raw.js';
import type { Row } from '../../result.js';

interface Configuration {
  /** Signatures a figure: of libsodium, and of the reference, which is some twenty times slower. */
  signatures: number;
  referenceSignatures: number;
}

/** Calls under way at a time, where there are several: as many as clients of a busy server. */
const CALLERS = 64;
const BATCHES = [16, 256];

async function run(asked: Configuration, { r, seed }: Round): Promise<Row[]> {
  const jobs = jobSource(seed);
  const raw = rateOf(jobs, verifyOrThrow());
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

/** Further signatures for each way of asking. */
async function ratesOf(kind: VerifierKind, further: () => VerifyJob[]): Promise<Row[]> {
  const verifier = createVerifier(kind);
  // The threads start with the first batch: that is no verification.
  await verifier.verify(further().slice(0, CALLERS));
  const rate = async (name: string, callers: number, batch: number): Promise<Row> => {
    const jobs = further();
    const { wall, cpu } = await timed(() => verifyAll(verifier, jobs, callers, batch));
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
      if (verdicts.includes(false)) throw new Error(`${verifier.name} refuses a good signature`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

export const verifyCase = defineCase<Configuration>({
  name: 'verify',
  about: 'the verifiers pool, inline and reference, one at a time and in batches',
  sizes: {
    small: { signatures: 2_048, referenceSignatures: 128 },
    large: { signatures: 65_536, referenceSignatures: 2_048 },
  },
  run,
});
