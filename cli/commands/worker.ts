import { availableParallelism } from 'node:os';

import { openEtcd, type QueueFlags, queueOptions } from '../options/etcd.js';
import { CliCommand, integer } from '../options/options.js';
import { interruption } from '../output/exit.js';
import { writeStderr, writeStdout } from '../output/output.js';
import { build } from '../output/provenance.js';

interface Flags extends QueueFlags {
  queue: string;
  jobs: number;
  scripts?: boolean;
  leaseSeconds: number;
  idleMinutes?: number;
}

export function workerCommand(): CliCommand {
  return new CliCommand('worker')
    .description('execute runs of sweep --queue and swarm --queue')
    .addOptions(queueOptions('required'))
    .option('--jobs <n>', 'parallel runs', integer(1, 256), availableParallelism())
    .option('--scripts', 'run scenario scripts from the queue (trusted etcd only)')
    .option('--lease-seconds <n>', 'lease of a run, in seconds', integer(2, 3_600), 15)
    .option(
      '--idle-minutes <n>',
      'exit after idle time, in minutes (default: never)',
      integer(1, 100_000),
    )
    .explain({
      notes: `
Executes runs of the oldest queue. The worker claims each run with a lease and
stores the result only while it holds the lease, so a lost worker loses no run
and no result is stored twice. Ctrl+C returns the claimed runs.

The worker must have the same build and Node version as the sweep. The queue
delivers scenarios, data files and scripts. A script is a program: it runs only
with --scripts.`,
      examples: [
        'worker --queue etcd://10.0.0.1:2379',
        'worker --queue etcd://10.0.0.1,10.0.0.2 --jobs 8 --idle-minutes 10',
        `worker --queue etcd://10.0.0.1 --queue-ca ca.pem \\
      --queue-cert client.pem --queue-key client.key`,
      ],
    })
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { queue, jobs, scripts = false, leaseSeconds, idleMinutes } = flags;
  const client = await openEtcd(flags);
  const { serveQueues } = await import('../../sim/queue/serve.js');
  const interrupt = interruption();
  writeStderr(`folkmoot worker: ${jobs} runs in parallel from ${queue}`);
  try {
    const stored = await serveQueues(client, {
      made: build(),
      jobs,
      scripts,
      leaseSeconds,
      ...(idleMinutes === undefined ? {} : { idleMs: idleMinutes * 60_000 }),
      signal: interrupt.signal,
      say: (line) => writeStderr(line),
    });
    writeStdout(`${stored} runs completed`);
  } finally {
    client.close();
  }
  if (interrupt.signal.aborted) interrupt.end();
}
