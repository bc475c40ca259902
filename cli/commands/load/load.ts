/** `folkmoot load`: asks a live server as much as is wished, and says what it gave. */
import { Command } from 'commander';
import type {
  LoadOptions,
  LoadResult,
  SaturateHooks,
  WorkloadName,
} from '../../../bench/load/index.js';
import { workloadDefaults } from '../../../bench/load/options.js';
import { exitCodes } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';
import { interruption } from '../../output/signals.js';
import { commitHash } from '../../output/version.js';
import { loadCompareCommand } from './compare.js';
import { addLoadOptions, type LoadFlags, loadOptions } from './options.js';
import { showLoad, showProbe } from './progress.js';

const what: Record<WorkloadName, string> = {
  votes: 'signed votes that decide block after block',
  transactions: 'transactions, proposed and voted for until they are final',
  mixed: 'reads, votes, memes and status changes',
  reads: 'reads of the state, the agents and their reputations',
  subscribers: 'status changes, which all agents receive',
};

const help = () => `
Workloads, with what they do unless another --rate, --agents or --batch is given:
${workloads()}

Latencies count from when a request was to be sent, so a server that stalls cannot hide it. The
verdict says whether figures can be trusted: VALID; UNSTABLE, the halves of the run disagree;
CLIENT_BOUND, the generator was too slow; INVALID, the server failed, or took less than 99 % of the
rate. Of the workload transactions, --rate counts transactions. Durations have a unit: 500ms, 10s,
2m.

Exit codes: 0 done; 1 the server is not there, or its limits forbid the run; 2 usage; 14 INVALID or
CLIENT_BOUND; 15 a condition of --fail-on is met.

Examples:
  $ folkmoot serve --limits off                            the server, in another terminal
  $ folkmoot load --workload reads --rate 2000
  $ folkmoot load --agents 1000 --rate 3000 --duration 30s --out runs/votes
  $ folkmoot load --workload reads --concurrency 32 --json
  $ folkmoot load --saturate --slo p99=200ms --agents 1000
  $ folkmoot load --workload transactions --rate 2000 --fail-on 'finality.p99>2s,errors>1%'`;

function workloads(): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const lines = Object.entries(workloadDefaults).map(([name, { rate, agents, batch }]) => {
    const who = agents > 0 ? `, ${count(agents)} agents` : '';
    const blocks = batch > 0 ? `, ${count(batch)} to a block` : '';
    const about = what[name as WorkloadName];
    return `  ${name.padEnd(13)} ${about}\n${' '.repeat(16)}${count(rate)} a second${blocks}${who}`;
  });
  return lines.join('\n');
}

export function loadCommand(): Command {
  return addLoadOptions(new Command('load'))
    .description('measure how much a live server takes, and how long it takes')
    .addHelpText('after', help)
    .addCommand(loadCompareCommand())
    .action(run);
}

async function run(flags: LoadFlags): Promise<void> {
  const options = await loadOptions(flags);
  const { met, parseConditions } = await import('../../../bench/load/figures/conditions.js');
  const conditions = parseConditions(flags.failOn ?? [], { relative: false });
  const files = await import('../../../bench/load/files/index.js');
  if (flags.out !== undefined) await files.prepareLoad(flags.out);
  const interrupt = interruption();
  const hooks = {
    // Of a search, only its probes are shown.
    ...(flags.saturate ? { onProbe: showProbe } : showLoad(options)),
    signal: interrupt.signal,
    commit: commitHash() ?? 'unknown',
  };
  const result = await resultOf(options, flags, hooks);
  if (flags.out !== undefined) await files.writeLoad(result, flags.out);
  if (flags.json) printJson(result);
  else print(...(await import('./summary.js')).loadSummary(result));
  const failed = conditions.flatMap((condition) => met(condition, result) ?? []);
  for (const sentence of failed) say(`folkmoot: ${sentence}`);
  process.exitCode = exitCodeOf(result, failed);
}

async function resultOf(
  options: LoadOptions,
  { saturate: wanted, slo: texts = [], repeat = 3 }: LoadFlags,
  hooks: SaturateHooks,
): Promise<LoadResult> {
  const { runLoad, saturate } = await import('../../../bench/load/index.js');
  const { rawSpeed } = await import('../../../bench/raw/raw.js');
  if (!wanted) return runLoad(options, { ...hooks, r: rawSpeed() });
  const { met, slo } = await import('../../../bench/load/figures/conditions.js');
  const objectives = slo(texts).map((condition) => ({
    text: condition.text,
    missed: (result: LoadResult) => met(condition, result),
  }));
  const load = { ...options, rate: options.rate ?? 1 };
  return saturate({ load, objectives, repeat }, hooks);
}

/** Figures that cannot be trusted meet no condition, and break none. */
function exitCodeOf({ verdict }: LoadResult, failed: readonly string[]): number {
  if (verdict === 'INVALID' || verdict === 'CLIENT_BOUND') return exitCodes.invalid;
  return failed.length > 0 ? exitCodes.failOn : exitCodes.done;
}
