/**
 * Where the time of one vote goes: each stage by itself on the same real signed votes, with CPU
 * time of all threads. Their sum is what a vote must cost; the tier engine+verify+store, beside it
 * in `tiers`, is what it does cost. Answering and publishing are differences between tiers.
 */
import { bodyProblem, Digests, parseJson, type VerifyJob } from '../../../engine/internal.js';
import { voteInput } from '../../../engine/protocol/signing.js';
import { defineCase, type Round } from '../../case.js';
import { cpuUsOf } from '../../fixtures/commands.js';
import {
  batchesOf,
  encodePast,
  historyOf,
  type Past,
  storeBefore,
} from '../../fixtures/history.js';
import { withFolder } from '../../fixtures/network.js';
import { Population } from '../../fixtures/population.js';
import { jobSource } from '../../raw/jobs.js';
import { type Rate, rateOf, rateOver, timed } from '../../raw/measure.js';
import { verifyOrThrow } from '../../raw/raw.js';
import type { Row } from '../../result.js';

interface Configuration {
  blocks: number;
  seconds: number;
}

const VALIDATORS = 1_000;
/** About what a busy server commits at a time. */
const BATCH = 128;

type Body = Record<string, unknown>;

async function run({ blocks, seconds }: Configuration, { seed }: Round): Promise<Row[]> {
  const past = await historyOf(await Population.of(VALIDATORS, seed), blocks);
  const votes = past.filter(({ request }) => request.kind === 'vote');
  const requests = votes.map(({ request }) => request);
  const bodies = requests.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as Body);
  const own = ({ cpuUs }: Rate) => cpuUs;
  const jobs: (count: number) => VerifyJob[] = jobSource(seed);
  const stages: [name: string, cpuUs: number][] = [
    ['parse', own(rateOver(requests, ({ body }) => parseJson(body), seconds))],
    ['validate', own(rateOver(bodies, (body) => bodyProblem('vote', body), seconds))],
    ['canonicalize', own(rateOver(bodies, voteInput, seconds))],
    ['verify', own(rateOf(jobs, verifyOrThrow(), seconds))],
    ['apply', await applyUs(votes.length, seed)],
    ['encode, both digests', own(encodingRate(votes, seconds))],
    [`commit, batches of ${BATCH}`, await commitUs(past)],
  ];
  const sum = stages.reduce((total, [, cpuUs]) => total + cpuUs, 0);
  return [...stages, ['the sum of these', sum] as const].map(([name, cpu_us]) => ({
    name,
    cpu_us,
  }));
}

/** In a population of its own, where nothing keeps what was done; once before, to be compiled. */
async function applyUs(count: number, seed: string): Promise<number> {
  await cpuUsOf('vote', await Population.of(VALIDATORS, seed), count);
  return cpuUsOf('vote', await Population.of(VALIDATORS, seed), count);
}

function encodingRate(votes: readonly Past[], seconds: number): Rate {
  const digests = new Digests();
  return rateOver(votes, (one) => encodePast(one, digests), seconds);
}

/** CPU time of an entry, those of LMDB's own threads included. */
function commitUs(past: readonly Past[]): Promise<number> {
  const digests = new Digests();
  const batches = [
    ...batchesOf(
      past.map((one) => encodePast(one, digests)),
      BATCH,
    ),
  ];
  return withFolder(async (path) => {
    const store = await storeBefore(path, batches[0]!);
    const { cpu } = await timed(async () => {
      for (const batch of batches) await store.commit(batch);
    });
    await store.close();
    return (cpu * 1e6) / (batches.length * BATCH);
  });
}

export const stagesCase = defineCase<Configuration>({
  name: 'stages',
  about: 'the CPU time of one vote, stage by stage: parse to commit',
  sizes: { small: { blocks: 6, seconds: 0.2 }, large: { blocks: 30, seconds: 2 } },
  run,
});
