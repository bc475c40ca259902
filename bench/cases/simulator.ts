/**
 * Simulator cases: scripted agents in virtual time, start-up time, and the CPU profile of a
 * simulated vote.
 */
import { execFile } from 'node:child_process';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { promisify } from 'node:util';
import { defaultScenario, type Progress, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import { measureTime } from '../raw/raw.js';
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

/*
 * CPU profile of a simulated vote over a whole run, compared with a loop of votes, gossip and
 * thresholds. The loop shows the cost of a model without a log, digests and checks.
 */

interface SimulatedVoteOptions {
  agents: number;
  blocks: number;
}

const DEGREE = 8;

/** The first matching pattern wins, so specific paths come before general ones. */
const parts: readonly Part[] = [
  ['agents: judge, draw', /sim\/(agents|scenario|rng|numbers)/],
  ['gossip and links', /sim\/world\/(links|faults|graph|latency|messages|gossip|knowledge)/],
  ['schedule, transport, publish', /sim\/(world|run)\//],
  ['measures', /sim\/measure\//],
  ['auditor', /sim\/audit\//],
  ['compose requests', /engine\/(protocol\/(compose|signing|unsigned)|crypto)/],
  ['admit requests', /engine\/admit\//],
  ['apply: rules, state machines, tallies', /engine\/(core|rules)\//],
  ['encode, both digests', /engine\/(node\/encode|protocol\/(log|sha256|canonical))/],
  ['order, publish, store', /engine\/(node|store)\//],
];

/** Ways to run a simulation. A sweep runs without a log. */
const modes = {
  'log, audit': { store: 'memory' },
  log: { store: 'memory', audit: false },
  'no log': { log: 'none', audit: false },
} as const;

async function measureSimulatedVote(asked: SimulatedVoteOptions): Promise<Row[]> {
  const rows: Row[] = [];
  let votes = 0;
  for (const [mode, options] of Object.entries(modes)) {
    const found = await measureMode(asked, options);
    votes = found.votes;
    rows.push(...found.rows.map((row) => ({ ...row, name: `${mode}: ${row.name}` })));
  }
  return [...rows, await plainLoop(asked.agents, votes)];
}

async function measureMode(
  { agents, blocks }: SimulatedVoteOptions,
  options: Parameters<typeof simulate>[1],
) {
  const scenario = (length: number) =>
    defaultScenario(agents, { signatures: 'none', length: { blocks: length } });
  // Run once before the measurement, for compilation.
  await simulate(scenario(Math.ceil(blocks / 4)), options);
  let votes = 0;
  let sums = new Map<string, number>();
  const { cpu } = await measureTime(async () => {
    sums = await profiled(async () => {
      votes = (await simulate(scenario(blocks), options)).measures.votes ?? 0;
    }, parts);
  });
  const all = [...sums.values()].reduce((sum, us) => sum + us, 0);
  // Samples measure only shares, because on a busy machine sample times include other programs.
  const row = (name: string, us: number): Row => {
    const ratio = us / all;
    return { name, cpu_us: (ratio * cpu * 1e6) / votes, ratio };
  };
  const names = [...parts.map(([name]) => name), 'garbage collection', 'native code', 'the rest'];
  const rows = names.map((name) => row(name, sums.get(name) ?? 0));
  return { rows: [...rows, row('a vote, all of it', all)], votes };
}

/** Each agent reads its neighbours' votes and decides. A block ends at two thirds. */
async function plainLoop(agents: number, votes: number): Promise<Row> {
  const decisions = new Uint8Array(agents);
  let draw = 1;
  let cast = 0;
  let finalized = 0;
  const { cpu } = await measureTime(async () => {
    while (cast < votes) {
      let approving = 0;
      for (let agent = 0; agent < agents; agent += 1) {
        let heard = 0;
        for (let step = 1; step <= DEGREE; step += 1) {
          heard += decisions[(agent + step * 37) % agents]!;
        }
        draw = (Math.imul(draw, 1_103_515_245) + 12_345) >>> 0;
        decisions[agent] = (draw >>> 16) % 100 < 60 + heard ? 1 : 0;
        approving += decisions[agent]!;
        cast += 1;
      }
      if (3 * approving > 2 * agents) finalized += 1;
    }
  });
  if (finalized === 0) throw new Error('the plain loop finalized nothing');
  return { name: 'a vote in a plain loop', cpu_us: (cpu * 1e6) / cast };
}

export const simulatedVoteCase = defineCase<SimulatedVoteOptions>({
  name: 'simulated-vote',
  about: 'CPU profile of a simulated vote; ratio is the share of a part',
  sizes: { small: { agents: 1_000, blocks: 20 }, large: { agents: 1_000, blocks: 100 } },
  run: measureSimulatedVote,
});

/** A part, identified by its file paths. */
export type Part = readonly [name: string, path: RegExp];

const INTERVAL_US = 200;
/** V8's work outside functions. Idle time belongs to no part. */
const ownWork = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native code'],
  ['(idle)', ''],
]);

/**
 * Microseconds by part. A sample belongs to the innermost function whose file is in a part, so work
 * in libraries and Node.js counts toward the calling part.
 */
async function profiled(
  task: () => Promise<unknown>,
  parts: readonly Part[],
): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    await task();
    const { profile } = await session.post('Profiler.stop');
    return attributeSamples(profile, parts);
  } finally {
    session.disconnect();
  }
}

/** Microseconds by part, in the samples from `fromUs` on, on the profile's clock. */
export function attributeSamples(
  profile: Profiler.Profile,
  parts: readonly Part[],
  fromUs = 0,
): Map<string, number> {
  const { nodes, samples = [], timeDeltas = [] } = profile;
  const partOf = new Map<number, string>();
  // Parent nodes precede their children.
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((to) => [to, id])));
  for (const { id, callFrame } of nodes) {
    const { functionName, url } = callFrame;
    const inherited = partOf.get(parents.get(id) ?? 0) ?? 'the rest';
    const named = ownWork.get(functionName) ?? parts.find(([, path]) => path.test(url))?.[0];
    partOf.set(id, named ?? inherited);
  }
  const sums = new Map<string, number>();
  let atUs = profile.startTime;
  for (const [index, id] of samples.entries()) {
    atUs += timeDeltas[index]!;
    const part = partOf.get(id)!;
    if (part !== '' && atUs >= fromUs) sums.set(part, (sums.get(part) ?? 0) + timeDeltas[index]!);
  }
  return sums;
}
