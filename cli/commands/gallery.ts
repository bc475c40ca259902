/** The shipped scenarios, with the command that shows each, and their outcome on this machine. */
import type { Scenario } from '../../sim/index.js';
import type { Outcome } from '../../sim/run/jobs.js';
import { CliCommand } from '../options/options.js';
import { exitCodes, interruption } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';

interface GalleryFlags {
  run?: boolean;
  json?: boolean;
}

interface Exhibit {
  name: string;
  title: string;
  question: string;
  agents: number;
  rule: string;
  length: string;
  /** Expected verdict. */
  expect: string;
  command: string;
}

/** Outcome of an exhibit's own run. */
interface Shown {
  verdict: string;
  wall_ms: number;
  /** Shares of the closed blocks. */
  blocks: Partial<Record<keyof typeof marks, number>>;
}

export function galleryCommand(): CliCommand {
  return new CliCommand('gallery')
    .description('show the shipped scenarios, and the command for each')
    .argument('[name...]', 'scenarios to show (default: all)')
    .option('--run', 'run each, and show its outcome and run time')
    .option('--json', 'print one JSON array')
    .notes(`
With --run, a bar shows the closed blocks: finalized (#), rejected (x), expired
(.) and orphaned (~). Scenarios with external deciders need recorded answers,
so their run fails here.`)
    .examples('gallery', 'gallery cartel two-blocs --run', "gallery --json | jq -r '.[].command'")
    .action(show);
}

async function show(names: readonly string[], { run, json }: GalleryFlags): Promise<void> {
  const { loadScenario, shippedScenarios } = await import('../../sim/index.js');
  const wanted = names.length > 0 ? names : shippedScenarios().map(({ name }) => name);
  const all = wanted.map((name) => ({ name, ...loadScenario(name) }));
  const rows: (Exhibit & Partial<Shown>)[] = [];
  if (!run) rows.push(...all.map(({ name, scenario }) => describe(name, scenario)));
  else {
    const { JobWorker, toJobLimits } = await import('../../sim/run/jobs.js');
    const { signal, end } = interruption();
    const worker = new JobWorker(toJobLimits({}));
    try {
      for (const { name, scenario, folder } of all) {
        if (!json) writeStderr(`folkmoot: runs ${name}`);
        const started = performance.now();
        const job = { scenario, seed: scenario.seed, folder, log: 'none' as const };
        const outcome = await worker.run(job, signal);
        if (signal.aborted) return end();
        const row = { ...describe(name, scenario), ...toShown(outcome, started) };
        if (row.verdict !== row.expect) setExitCode(exitCodes.noProgress);
        rows.push(row);
        if (!json) writeStdout(...card(row));
      }
    } finally {
      await worker.close();
    }
  }
  if (json) return printJson(rows);
  if (!run) writeStdout(...rows.flatMap(card));
}

function describe(name: string, scenario: Scenario): Exhibit {
  const { title, question, population, consensus, expect, length } = scenario;
  const { blocks, virtual_ms: ms } = length;
  const ends = [
    ...(blocks === undefined ? [] : [`${blocks} blocks`]),
    ...(ms === undefined ? [] : [`${ms / 1000} s of virtual time`]),
    ...(length.until === undefined ? [] : ['a condition']),
  ];
  return {
    ...{ name, title, question, agents: population, rule: consensus.policy, expect },
    length: ends.join(', or '),
    command: `folkmoot sim ${name} --watch`,
  };
}

function toShown(outcome: Outcome, started: number): Shown {
  const wall_ms = Math.round(performance.now() - started);
  if ('failure' in outcome) return { verdict: outcome.failure.kind, wall_ms, blocks: {} };
  const { verdict, measures } = outcome.result;
  const names = Object.keys(marks) as (keyof typeof marks)[];
  const blocks = Object.fromEntries(names.map((name) => [name, measures[`${name}_share`] ?? 0]));
  return { verdict, wall_ms, blocks };
}

const marks = { finalized: '#', rejected: 'x', expired: '.', orphaned: '~' } as const;

/** Width of the bar, in characters. */
const BAR = 40;

function card(row: Exhibit & Partial<Shown>): string[] {
  const { name, title, question, agents, rule, length, expect, command } = row;
  const facts = `${agents} agents, rule ${rule}, until ${length}; expect ${expect}`;
  return [`${name}: ${title}`, `  ${question}`, `  ${facts}`, ...outcomeLine(row), `  ${command}`];
}

function outcomeLine({ verdict, wall_ms, blocks }: Partial<Shown>): string[] {
  if (verdict === undefined || !blocks) return [];
  const bar = Object.entries(marks)
    .map(([name, mark]) => mark.repeat(Math.round(BAR * (blocks[name as keyof typeof marks] ?? 0))))
    .join('');
  return [`  [${bar.slice(0, BAR).padEnd(BAR)}] ${verdict} in ${(wall_ms! / 1000).toFixed(1)} s`];
}
