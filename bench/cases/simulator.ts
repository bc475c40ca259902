/** Simulations: scripted agents in virtual time, start-up time, and peak memory. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { defaultScenario, type Progress, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { folkmootArguments } from '../servers/processes.js';

const execute = promisify(execFile);

interface SimulatorOptions {
  /** Blocks for 100 agents and for 10,000 agents. */
  blocks: number;
  largeBlocks: number;
  /** Agents in the peak memory measurement. */
  agents: number;
  /** Blocks of 1,000 agents, signed, verified and durable. */
  mainBlocks: number;
}

/** Upper limit of a vote of the main job, in 1/R of wall time: 7 s for 70,525 votes, R = 26,000. */
const ALLOWED_MAIN = 2.6;

async function measureSimulator(asked: SimulatorOptions, { r }: Round): Promise<Row[]> {
  const few = await simulatedRates(100, asked.blocks);
  const many = await simulatedRates(10_000, asked.largeBlocks);
  const mebibytes = (await peakBytes(asked.agents)) / 2 ** 20;
  const agents = asked.agents.toLocaleString('en-US');
  const row = (name: string, per_s: number): Row => ({ name, per_s, of_r: per_s / r });
  return [
    row('votes of 100 agents', few.whole),
    row('votes of 100 agents, after block 1', few.later),
    { ...row('votes of 10,000 agents', many.whole), ratio: many.whole / few.whole },
    { ...row('votes of 10,000 agents, after block 1', many.later), ratio: many.later / few.later },
    { name: 'start-up with 100 agents, relative to node -e 0', ratio: await startUp() },
    await measureMainJob(asked.mainBlocks, r),
    { name: `peak memory of ${agents} agents`, value: mebibytes, unit: 'MiB' },
  ];
}

/**
 * Builds a population in which nine of ten agents vote, with full social activity on a small-world
 * graph.
 */
function population(agents: number, blocks: number) {
  const validators = Math.floor((agents * 9) / 10);
  return defaultScenario(agents, {
    agents: [
      { group: 'validators', count: validators, producers: Math.ceil(agents / 50) },
      { group: 'others', count: agents - validators, capabilities: ['producer'] },
    ],
    signatures: 'none',
    length: { blocks },
  });
}

/**
 * Votes per second over a whole run (agents, engine, digests, measures, auditor; state in memory),
 * and after the run's first block. All agents register before that block, with one entry each.
 */
async function simulatedRates(agents: number, blocks: number) {
  const started = performance.now();
  let first: Progress | null = null;
  let firstMs = 0;
  const onProgress = (progress: Progress) => {
    if (first === null) firstMs = performance.now() - started;
    first ??= progress;
  };
  const scenario = population(agents, blocks);
  const { measures } = await simulate(scenario, { store: 'memory' }, { onProgress });
  const wholeMs = performance.now() - started;
  const votes = measures.votes ?? 0;
  const later = votes - (first as Progress | null)!.votes;
  return { whole: (votes * 1000) / wholeMs, later: (later * 1000) / (wholeMs - firstMs) };
}

const timedRun = async (args: readonly string[]): Promise<number> => {
  const started = performance.now();
  await execute(process.execPath, args);
  return performance.now() - started;
};

const PAIRS = 7;

/**
 * Start-up time of a process that runs 100 agents for a block, relative to an empty process. Takes
 * the median over pairs of back-to-back processes, because the machine speed varies.
 */
async function startUp(): Promise<number> {
  const sim = ['sim', '--agents', '100', '--blocks', '1', '--json'];
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const nothing = await timedRun(['-e', '0']);
    ratios.push((await timedRun([...folkmootArguments, ...sim])) / nothing);
  }
  return ratios.sort((a, b) => a - b)[(PAIRS - 1) / 2]!;
}

/** Wall time of `folkmoot sim` per vote, as a multiple of 1/R. Includes the start-up. */
async function measureMainJob(blocks: number, r: number): Promise<Row> {
  const started = performance.now();
  const flags = ['sim', '--blocks', String(blocks), '--json'];
  const { stdout } = await execute(process.execPath, [...folkmootArguments, ...flags]);
  const seconds = (performance.now() - started) / 1000;
  const { measures } = JSON.parse(stdout) as { measures: { votes: number } };
  const value = (seconds * r) / measures.votes;
  const name = 'wall time of a vote, signed, verified and durable, 1,000 agents';
  return { name, value, unit: '1/R', allowed: ALLOWED_MAIN };
}

/** Peak memory of a process that runs `agents` agents for a block. */
async function peakBytes(agents: number): Promise<number> {
  const flags = ['--agents', String(agents), '--blocks', '1', '--unsigned', '--store', 'memory'];
  const { stdout } = await execute(process.execPath, [
    ...folkmootArguments,
    'sim',
    ...flags,
    '--json',
  ]);
  return (JSON.parse(stdout) as { peak_rss_bytes: number }).peak_rss_bytes;
}

export const simulatorCase = defineCase<SimulatorOptions>({
  name: 'simulator',
  about: 'simulated votes, start-up time and peak memory',
  sizes: {
    small: { blocks: 100, largeBlocks: 3, agents: 10_000, mainBlocks: 25 },
    large: { blocks: 1_200, largeBlocks: 11, agents: 100_000, mainBlocks: 100 },
  },
  run: measureSimulator,
});
