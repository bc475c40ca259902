/** Simulations: scripted agents in virtual time, start-up time, and peak memory. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { defaultScenario, type Progress, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { folkmootArguments, withFolder } from '../servers/processes.js';

const execute = promisify(execFile);

interface SimulatorOptions {
  /** Blocks for 100 agents and for 10,000 agents. */
  blocks: number;
  largeBlocks: number;
  /** Agents in the peak memory measurement. */
  agents: number;
  /** Blocks of 1,000 agents, signed, verified and durable. */
  mainBlocks: number;
  /** Runs that a compiled event loop repeats. A log is in memory. */
  compared: readonly Compared[];
}

type Compared = readonly [agents: number, blocks: number, log: 'log' | 'no log'];

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
    ...(await compareWithLoop(asked.compared, r)),
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

/** Prints the CPU time of the process at its end, in microseconds. */
const printsCpu =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();' +
  'process.stderr.write("cpu "+(user+system))})';

interface Counted {
  votes: number;
  messages: number;
  cpuUs: number;
}

/** Turns off what the compiled loop lacks: memes, remarks, alliances, breaks, their occasions. */
const likeLoop = [
  ...['memes', 'discussion', 'alliances', 'breaks'].map((name) => `social.${name}.rate=0`),
  'social.occasion_ms=3600000',
].flatMap((setting) => ['--set', setting]);

/** Counts a run without signatures and auditor, in a process of its own. */
async function runLikeLoop([agents, blocks, log]: Compared): Promise<Counted> {
  const kept = log === 'log' ? ['--store', 'memory'] : ['--log', 'none'];
  const size = ['--agents', String(agents), '--blocks', String(blocks)];
  const [command, ...more] = folkmootArguments;
  const args = ['--import', printsCpu, command!, ...more, 'sim', ...size, '--unsigned'];
  const { stdout, stderr } = await execute(
    process.execPath,
    [...args, ...kept, '--no-audit', '--json', ...likeLoop],
    { maxBuffer: 2 ** 26 },
  );
  const { measures } = JSON.parse(stdout) as {
    measures: { votes: number; messages_delivered: number };
  };
  const cpuUs = Number(/cpu (\d+)$/.exec(stderr)![1]);
  return { votes: measures.votes, messages: measures.messages_delivered, cpuUs };
}

const LOOP = fileURLToPath(new URL('../../../bench/peers/town.cpp', import.meta.url));
/** Alternating runs of both programs. */
const RUNS = 5;

/** Compares the CPU time of a vote with that of a compiled event loop, if there is a compiler. */
async function compareWithLoop(sizes: SimulatorOptions['compared'], r: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const loop = join(folder, 'town');
    const compiled = await execute('c++', ['-O2', '-std=c++17', '-o', loop, LOOP]).then(
      () => true,
      () => false,
    );
    const rows: Row[] = [];
    for (const size of sizes) {
      const [agents, blocks, log] = size;
      const own: Counted[] = [];
      const loops: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        own.push(await runLikeLoop(size));
        if (!compiled) continue;
        const { stdout } = await execute(loop, [String(agents), String(blocks)]);
        const [votes, , , seconds] = stdout.split(' ').map(Number);
        loops.push((seconds! * 1e6) / votes!);
      }
      const { votes, messages, cpuUs } = own.sort((a, b) => a.cpuUs - b.cpuUs)[RUNS >> 1]!;
      const loopUs = loops.sort((a, b) => a - b)[RUNS >> 1];
      const of = `${agents.toLocaleString('en-US')} agents, ${log}`;
      const per_s = (votes * 1e6) / cpuUs;
      rows.push(
        {
          ...{ name: `votes a CPU second, ${of}`, per_s, of_r: per_s / r, cpu_us: cpuUs / votes },
          ...(loopUs === undefined ? { note: 'no C++ compiler' } : {}),
        },
        { name: `messages a CPU second, ${of}`, per_s: (messages * 1e6) / cpuUs },
      );
      if (loopUs === undefined) continue;
      const ratio = cpuUs / votes / loopUs;
      rows.push({
        name: `CPU of a vote relative to a compiled loop, ${of}`,
        ratio,
        cpu_us: loopUs,
      });
    }
    return rows;
  });
}

export const simulatorCase = defineCase<SimulatorOptions>({
  name: 'simulator',
  about: 'simulated votes, start-up time, peak memory, and a compiled event loop beside them',
  sizes: {
    small: {
      blocks: 100,
      largeBlocks: 3,
      agents: 10_000,
      mainBlocks: 25,
      compared: [
        [1_000, 20, 'no log'],
        [1_000, 20, 'log'],
        [10_000, 3, 'no log'],
      ],
    },
    large: {
      blocks: 1_200,
      largeBlocks: 11,
      agents: 100_000,
      mainBlocks: 100,
      compared: [
        [1_000, 1_200, 'no log'],
        [1_000, 1_200, 'log'],
        [10_000, 120, 'no log'],
        [100_000, 24, 'no log'],
        [1_000_000, 3, 'no log'],
      ],
    },
  },
  run: measureSimulator,
});
