/**
 * Sweeps on this machine: two jobs compared with one, and sweeps of short runs compared with the
 * same runs in a loop in one process.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { defineCase, type Row } from '../case.js';
import { withFolder } from '../fixtures/network.js';
import { median } from '../raw/raw.js';
import { endedSeconds, folkmootArguments, type Spent, spendOn } from '../servers/processes.js';

const execute = promisify(execFile);

interface SweepOptions {
  /** Runs of 300 agents and 10 blocks, for one job and for two. */
  runs: number;
  /** Runs of 20 agents and 5 blocks. */
  shortRuns: number;
  /** Number of measurements of each kind, in alternating order. */
  pairs: number;
}

type Kind = 'one' | 'two' | 'sweep' | 'loop';

async function measureSweep({ runs, shortRuns, pairs }: SweepOptions): Promise<Row[]> {
  const spent: Record<Kind, Spent[]> = { one: [], two: [], sweep: [], loop: [] };
  await withFolder(async (folder) => {
    const [long, short] = [join(folder, 'long.json'), join(folder, 'short.json')];
    writeFileSync(long, JSON.stringify(sweepScenario(300, 10, runs)));
    writeFileSync(short, JSON.stringify(sweepScenario(20, 5, shortRuns)));
    for (let pair = 0; pair < pairs; pair += 1) {
      const sweepOf = (file: string, jobs: string, name: string) => () => {
        const out = join(folder, `${name}-${pair}`);
        const args = ['sweep', file, '--jobs', jobs, '--out', out];
        return execute(process.execPath, [...folkmootArguments, ...args]);
      };
      spent.one.push(await spendOn(sweepOf(long, '1', 'one')));
      spent.two.push(await spendOn(sweepOf(long, '2', 'two')));
      spent.loop.push(await spendOn(() => execute(process.execPath, [...loop, short])));
      spent.sweep.push(await spendOn(sweepOf(short, '1', 'short')));
    }
  });
  return toRows(spent, runs, shortRuns);
}

/** The loop has the same space for young objects as the process of a job. */
const loop = [
  '--max-semi-space-size=64',
  fileURLToPath(new URL('../short-runs.js', import.meta.url)),
];

/** @param runs number of runs, in two cells. */
const sweepScenario = (agents: number, blocks: number, runs: number) => ({
  title: 'Runs of a sweep',
  agents: [{ group: 'town', count: agents, producers: Math.max(2, Math.ceil(agents / 50)) }],
  signatures: 'none',
  length: { blocks },
  sweep: {
    replicates: runs / 2,
    factors: [{ path: 'consensus.policy', values: ['bft', 'majority'] }],
  },
});

function toRows(spent: Record<Kind, Spent[]>, runs: number, shortRuns: number): Row[] {
  const withCpu = endedSeconds() !== null;
  const row = (kind: Kind, count: number, name: string): Row => ({
    name,
    per_s: count / median(spent[kind].map(({ seconds }) => seconds)),
    ...(withCpu
      ? { cpu_us: (median(spent[kind].map(({ cpuSeconds }) => cpuSeconds)) / count) * 1e6 }
      : {}),
  });
  const ratio = (of: keyof Spent, above: Kind, below: Kind) =>
    median(spent[above].map((one, pair) => one[of] / spent[below][pair]![of]));
  const times = (name: string, value: number): Row => ({ name, value, unit: 'times' });
  const rows: Row[] = [
    row('one', runs, `${runs} runs of 300 agents and 10 blocks, sweep --jobs 1`),
    row('two', runs, 'the same, --jobs 2'),
    {
      name: 'two jobs: runs per second, relative to one job',
      ratio: ratio('seconds', 'one', 'two'),
      wanted: 1.7,
    },
    row('loop', shortRuns, `${shortRuns} runs of 20 agents and 5 blocks, in one process`),
    row('sweep', shortRuns, 'the same, sweep --jobs 1'),
    {
      ...times('short runs: time, relative to one process', ratio('seconds', 'sweep', 'loop')),
      allowed: 1.2,
    },
  ];
  if (!withCpu) return rows;
  return [
    ...rows,
    times('two jobs: CPU time, relative to one job', ratio('cpuSeconds', 'two', 'one')),
    times('short runs: CPU time, relative to one process', ratio('cpuSeconds', 'sweep', 'loop')),
  ];
}

export const sweepCase = defineCase<SweepOptions>({
  name: 'sweep',
  about: 'a sweep with two jobs relative to one, and the overhead of short runs',
  byName: true,
  sizes: {
    small: { runs: 120, shortRuns: 400, pairs: 3 },
    large: { runs: 1_000, shortRuns: 800, pairs: 5 },
  },
  run: measureSweep,
});
