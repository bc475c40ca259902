/**
 * Transactions in blocks of 1,000 over HTTP, finalized: each is a signature to verify, and a block
 * is decided by four validators. The generator shares the machine.
 */
import { defineCase, type Round } from '../../case.js';
import type { Row } from '../../result.js';
import { withFolkmoot } from '../../servers/folkmoot.js';
import { load } from '../../servers/load.js';

interface Configuration {
  seconds: number;
}

/** Proposals under way: the next one is there when a block is decided. */
const CONCURRENCY = 4;
const BATCH = 1_000;

async function run({ seconds }: Configuration, { r, seed }: Round): Promise<Row[]> {
  const { result, cpuUsPerSignature, idle, note } = await withFolkmoot((server) =>
    load(server, {
      workload: 'transactions',
      concurrency: CONCURRENCY,
      batch: BATCH,
      durationMs: 1000 * seconds,
      seed,
    }),
  );
  const { tps } = result.transactions;
  return [
    {
      name: 'finalized transactions, blocks of 1,000',
      per_s: tps,
      of_r: tps / r,
      cpu_us: cpuUsPerSignature,
      ...(idle === null ? {} : { idle }),
      ...(note === '' ? {} : { note }),
    },
    {
      name: 'transactions in blocks of 1,000, http: finalized TPS of R',
      ratio: tps / r,
      wanted: 1,
    },
  ];
}

export const transactionsCase = defineCase<Configuration>({
  name: 'transactions',
  about: 'transactions in blocks of 1,000 over HTTP, finalized, beside R',
  everyRound: true,
  sizes: { small: { seconds: 2 }, large: { seconds: 15 } },
  run,
});
