/** The simulator: scripted agents in virtual time, without signatures, and starting up. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { defaultScenario, simulate } from '../../../sim/index.js';
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
  const few = await simulatedRate(100, asked.blocks);
  const many = await simulatedRate(10_000, asked.largeBlocks);
  const mebibytes = (await peakBytes(asked.agents)) / 2 ** 20;
  const agents = asked.agents.toLocaleString('en-US');
  return [
    { name: 'votes of 100 agents', per_s: few, of_r: few / r },
    { name: 'votes of 10,000 agents', per_s: many, of_r: many / r, ratio: many / few },
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

/** Votes a second of a whole run: agents, engine, digests, measures, auditor; state in memory. */
async function simulatedRate(agents: number, blocks: number): Promise<number> {
  const started = performance.now();
  const { measures } = await simulate(population(agents, blocks), { store: 'memory' });
  return ((measures.votes ?? 0) * 1000) / (performance.now() - started);
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
