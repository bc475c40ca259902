/**
 * Opens pools, and closes each pool a little later than the previous one, so that threads end while
 * loading.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Signers } from '../../../dist/bench/load/signers.js';
import { createVerifier } from '../../../dist/engine/index.js';
import { JobWorker } from '../../../dist/sim/run/jobs.js';
import { defaultScenario } from '../../../dist/sim/scenario/complete.js';

const pools = {
  verifier: () => createVerifier('pool'),
  signers: () => new Signers({ seed: 'close', run: 'close', networkId: 'close' }),
  jobs() {
    const worker = new JobWorker({ wallMs: 60_000, memoryMb: 512 });
    const end = new AbortController();
    const scenario = defaultScenario(20);
    const ran = worker.run({ scenario, seed: '1' }, end.signal);
    return {
      async close() {
        end.abort();
        await worker.close();
        await ran;
      },
    };
  },
};

const [kind, most] = process.argv.slice(2);
for (let milliseconds = 0; milliseconds < Number(most); milliseconds += 3) {
  const pool = pools[kind]();
  await sleep(milliseconds);
  await pool.close();
}
process.stdout.write('closed');
