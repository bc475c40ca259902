/** `folkmoot worker`: does runs of sweeps and swarms that are offered by way of an etcd. */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { openEtcd, type QueueFlags, queueOptions } from '../options/etcd.js';
import { integer } from '../options/options.js';
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

export function workerCommand(): Command {
  const whole = (least: number, most: number) => integer({ least, most });
  const command = new Command('worker').description(
    'do runs that sweep --queue and swarm --queue offer',
  );
  for (const option of queueOptions()) {
    command.addOption(option.name() === 'queue' ? option.makeOptionMandatory() : option);
  }
  return command
    .option('--jobs <n>', 'runs at a time', whole(1, 256), availableParallelism())
    .option('--scripts', 'run scripts of scenarios too: programs, of whoever writes to that etcd')
    .option(
      '--lease-seconds <n>',
      'others take its runs when it was silent so long',
      whole(2, 3_600),
      15,
    )
    .option(
      '--idle-minutes <n>',
      'end after so long without a run; default: wait',
      whole(1, 100_000),
    )
    .addHelpText(
      'after',
      `
A worker waits for queues and does runs of the oldest one that has some. It claims each run under a
lease, and stores what came of it only while the claim is its own: a worker that dies loses nothing,
one that was stopped and goes on stores nothing twice. Ctrl+C gives its runs back.

It must be the same build and the same Node as the sweep: others are told why they take no part.
Scenarios and data files come with the queue. Scripts come too, and are run with --scripts only.

Examples:
  $ folkmoot worker --queue etcd://10.0.0.1:2379
  $ folkmoot worker --queue etcd://10.0.0.1:2379,10.0.0.2:2379 --jobs 8 --idle-minutes 10
  $ folkmoot worker --queue etcd://a,b,c --queue-ca ca.pem --queue-cert me.pem --queue-key me.key`,
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { queue, jobs, scripts = false, leaseSeconds, idleMinutes } = flags;
  const client = await openEtcd(flags);
  const { serveQueues } = await import('../../sim/queue/serve.js');
  const interrupt = interruption();
  writeStderr(`folkmoot worker: ${jobs} runs at a time, of ${queue}`);
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
    writeStdout(`${stored} runs done`);
  } finally {
    client.close();
  }
  if (interrupt.signal.aborted) interrupt.end();
}
