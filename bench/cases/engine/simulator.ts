/** The simulator: scripted agents in virtual time, without signatures, and starting up. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { defaultScenario, type Progress, simulate } from '../../../sim/index.js';
import { defineCase, type Round } from '../../case.js';
import type { Row } from '../../result.js';
import { folkmootArguments } from '../../servers/cli.js';

const execute = promisify(execFile);

interface Configuration {
  /** Of 100 agents, and of 10,000. */
  blocks: number;
  largeBlocks: number;
  /** Whose peak memory is measured. */
  agents: number;
}

async function run(asked: Configuration, { r }: Round): Promise<Row[]> {
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
    { name: 'start of 100 agents, of node -e 0', ratio: await startUp() },
    { name: `peak memory of ${agents} agents`, value: mebibytes, unit: 'MiB' },
  ];
}

/** Nine of ten agents vote, with complete social life on a small world. */
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
 * Votes a second of a whole run: agents, engine, digests, measures, auditor; state in memory. And
 * of what comes after its first block: before that all register, each of them an entry as well.
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

const timed = async (args: readonly string[]): Promise<number> => {
  const started = performance.now();
  await execute(process.execPath, args);
  return performance.now() - started;
};

const PAIRS = 7;

/**
 * How many times as long as an empty process a process takes that runs 100 agents for a block: the
 * median of pairs, one right after the other, for a machine is not as fast all the time.
 */
async function startUp(): Promise<number> {
  const sim = ['sim', '--agents', '100', '--blocks', '1', '--json'];
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const nothing = await timed(['-e', '0']);
    ratios.push((await timed([...folkmootArguments, ...sim])) / nothing);
  }
  return ratios.sort((a, b) => a - b)[(PAIRS - 1) / 2]!;
}

/** Of a process that runs so many agents for a block. */
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

export const simulatorCase = defineCase<Configuration>({
  name: 'simulator',
  about: 'simulated votes, the time to start, and peak memory',
  sizes: {
    small: { blocks: 100, largeBlocks: 3, agents: 10_000 },
    large: { blocks: 1_200, largeBlocks: 11, agents: 100_000 },
  },
  run,
});
