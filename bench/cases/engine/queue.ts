/**
 * A sweep whose runs two workers take out of a queue, all on this machine, beside the same sweep
 * with two jobs: runs a second, and what all processes work for them, etcd among them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { defineCase } from '../../case.js';
import { withFolder } from '../../fixtures/network.js';
import { median } from '../../raw/measure.js';
import type { Row } from '../../result.js';
import { folkmootArguments } from '../../servers/cli.js';
import { endedSeconds, soFarSeconds } from '../../servers/ended.js';
import { hasEtcd, withEtcd } from '../../servers/etcd.js';

const execute = promisify(execFile);

interface Configuration {
  agents: number;
  blocks: number;
  runs: number;
  /** Both sweeps, one right after the other, so many times. */
  pairs: number;
}

/** Workers wait for sweeps: their start is not measured, that of the processes of runs is. */
const STARTED_MS = 3_000;

interface Taken {
  seconds: number;
  cpuSeconds: number;
}

async function run({ agents, blocks, runs, pairs }: Configuration): Promise<Row[]> {
  if (!hasEtcd) return [{ name: 'left out', note: 'no etcd is here: apt-get install etcd-server' }];
  if (endedSeconds() === null) return [{ name: 'left out', note: 'CPU time is known on Linux' }];
  const taken = await withFolder(async (folder) => {
    const file = join(folder, 'runs.json');
    writeFileSync(file, JSON.stringify(scenario(agents, blocks, runs)));
    const each: { local: Taken; queued: Taken }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const out = (name: string) => ['--out', join(folder, `${name}-${pair}`)];
      const local = await spent(() => sweep(file, ['--jobs', '2', ...out('local')]));
      each.push({ local, queued: await queued(file, out('queued')) });
    }
    return each;
  });
  const row = (which: 'local' | 'queued', name: string): Row => ({
    name,
    per_s: runs / median(taken.map((pair) => pair[which].seconds)),
    cpu_us: (median(taken.map((pair) => pair[which].cpuSeconds)) / runs) * 1e6,
  });
  const ratio = (of: keyof Taken) =>
    median(taken.map(({ local, queued }) => local[of] / queued[of]));
  return [
    row('local', `runs of ${agents} agents and ${blocks} blocks, sweep --jobs 2`),
    row('queued', 'the same by a queue with two workers'),
    {
      name: 'two workers: runs of --jobs 2, for the same CPU time',
      ratio: ratio('cpuSeconds'),
      wanted: 0.9,
    },
    { name: 'the same by the clock', ratio: ratio('seconds') },
  ];
}

const scenario = (agents: number, blocks: number, runs: number) => ({
  title: 'Runs of a queue',
  population: agents,
  agents: [{ group: 'town', producers: Math.ceil(agents / 50) }],
  signatures: 'none',
  length: { blocks },
  sweep: {
    replicates: runs / 2,
    factors: [{ path: 'consensus.policy', values: ['bft', 'majority'] }],
  },
});

const sweep = (file: string, args: readonly string[]) =>
  execute(process.execPath, [...folkmootArguments, 'sweep', file, ...args]);

/** What some work takes by the clock, and of processes that end meanwhile. */
async function spent(work: () => Promise<unknown>): Promise<Taken> {
  const [since, before] = [performance.now(), endedSeconds()!];
  await work();
  const seconds = (performance.now() - since) / 1_000;
  return { seconds, cpuSeconds: endedSeconds()! - before };
}

/** By two workers that have been waiting, and an etcd of one member: all that they work. */
async function queued(file: string, args: readonly string[]): Promise<Taken> {
  const before = endedSeconds()!;
  const { seconds, started } = await withEtcd(async ({ url, cpuSeconds }) => {
    const workers = [0, 1].map(() => worker(url));
    try {
      await sleep(STARTED_MS);
      const idle = workers.map(({ pid }) => soFarSeconds(pid!)!);
      const started = idle.reduce((sum, one) => sum + one, await cpuSeconds());
      const { seconds } = await spent(() => sweep(file, ['--queue', url, ...args]));
      return { seconds, started };
    } finally {
      await Promise.all(workers.map(end));
    }
  }, 1);
  return { seconds, cpuSeconds: endedSeconds()! - before - started };
}

const worker = (url: string): ChildProcess =>
  spawn(process.execPath, [...folkmootArguments, 'worker', '--queue', url, '--jobs', '1'], {
    stdio: 'ignore',
  });

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}

export const queueCase = defineCase<Configuration>({
  name: 'queue',
  about: 'a sweep by two workers of a queue beside one with two jobs; needs etcd',
  byName: true,
  sizes: {
    small: { agents: 300, blocks: 10, runs: 120, pairs: 3 },
    large: { agents: 300, blocks: 20, runs: 200, pairs: 5 },
  },
  run,
});
