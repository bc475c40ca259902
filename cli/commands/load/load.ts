/** `folkmoot load`: asks a live server as much as is wished, and says what it gave. */
import { Command } from 'commander';
import type {
  LoadOptions,
  LoadResult,
  SaturateHooks,
  WorkloadName,
} from '../../../bench/load/index.js';
import { workloadDefaults } from '../../../bench/load/options.js';
import { print, printJson } from '../../output/output.js';
import { interruption } from '../../output/signals.js';
import { commitHash } from '../../output/version.js';
import { conditionsCode, loadCompareCommand } from './compare.js';
import { addLoadOptions, type LoadFlags, loadOptions } from './options.js';
import { showLoad, showProbe, tellAll } from './progress.js';
import type { LoadWatch } from './watch/watch.js';

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
CLIENT_BOUND, the generator was too slow; WORKLOAD_BOUND, the workload had too few requests to send,
and the reason says which option to raise; INVALID, the server failed, or took less than 99 % of the
rate. Of the workload transactions, --rate counts transactions. Durations have a unit: 500ms, 10s,
2m.

With --watch a page shows the run, at the address that is printed: the verdict as it stands, rates
and times second by second, what was not accepted and why. Who has that address, with its token, may
end the run, and lets one begin that waits for it (--watch=paused). Watching changes no figure, and
the command ends with the run, whoever looks on. Of what --out kept, folkmoot explore DIR shows it.

Exit codes: 0 done; 1 the server is not there, or its limits forbid the run; 2 usage; 14 INVALID,
CLIENT_BOUND or WORKLOAD_BOUND; 15 a condition of --fail-on is met; 17 a condition of --fail-on or
--slo is about a figure that the run does not measure. The command ends before the run where the
options show that.

Examples:
  $ folkmoot serve --limits off                            the server, in another terminal
  $ folkmoot load --workload reads --rate 2000
  $ folkmoot load --agents 1000 --rate 3000 --duration 30s --out runs/votes
  $ folkmoot load --workload reads --concurrency 32 --json
  $ folkmoot load --saturate --slo p99=200ms --agents 1000
  $ folkmoot load --workload transactions --rate 2000 --fail-on 'finality.p99>2s,errors>1%'
  $ folkmoot load --workload reads --rate 500 --duration 5m --watch
  $ folkmoot load --agents 1000 --saturate --watch=paused --out runs/limit`;

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

/** Brackets that are sought where nobody says how many. */
const REPEAT = 3;

async function run(flags: LoadFlags): Promise<void> {
  const options = await loadOptions(flags);
  const conditionsOf = await import('../../../bench/load/figures/conditions.js');
  const conditions = conditionsOf.parseConditions(flags.failOn ?? [], { relative: false });
  const objectives = conditionsOf.slo(flags.slo ?? []);
  conditionsOf.assertMeasured([...conditions, ...objectives], options);
  const files = await import('../../../bench/load/files/index.js');
  if (flags.out !== undefined) await files.prepareLoad(flags.out);
  const { signal } = interruption();
  const watch = flags.watch ? await watching(options, flags, signal) : null;
  const hooks = {
    // Of a search, only its probes are shown.
    ...tellAll([flags.saturate ? { onProbe: showProbe } : showLoad(options), watch?.hooks ?? {}]),
    signal: watch ? AbortSignal.any([signal, watch.stop]) : signal,
    commit: commitHash() ?? 'unknown',
  };
  const result = await resultOf(options, flags, hooks, watch).catch(async (error) => {
    await watch?.end(error as Error);
    throw error;
  });
  const seen = watch?.end(result);
  try {
    if (flags.out !== undefined) await files.writeLoad(result, flags.out);
    if (flags.json) printJson(result);
    else print(...(await import('./summary.js')).loadSummary(result));
  } finally {
    await seen;
  }
  const { usable } = await import('../../../bench/load/figures/compare.js');
  const judged = conditions.map((condition) => conditionsOf.judge(condition, result));
  process.exitCode = conditionsCode(judged, usable(result));
}

async function watching(
  load: LoadOptions,
  flags: LoadFlags,
  signal: AbortSignal,
): Promise<LoadWatch> {
  const { watchLoad } = await import('./watch/watch.js');
  const { slo } = await import('../../../bench/load/figures/conditions.js');
  const search = {
    slo: slo(flags.slo ?? []).map(({ text }) => text),
    repeat: flags.repeat ?? REPEAT,
  };
  return watchLoad({ load, flags, signal, search: flags.saturate ? search : null });
}

async function resultOf(
  options: LoadOptions,
  { saturate: wanted, slo: texts = [], repeat = REPEAT }: LoadFlags,
  hooks: SaturateHooks,
  watch: LoadWatch | null,
): Promise<LoadResult> {
  const { runLoad, saturate } = await import('../../../bench/load/index.js');
  const { rawSpeed } = await import('../../../bench/raw/raw.js');
  if (!wanted) {
    const r = rawSpeed();
    watch?.measured(r);
    return runLoad(options, { ...hooks, r });
  }
  const { missed, slo } = await import('../../../bench/load/figures/conditions.js');
  const objectives = slo(texts).map((condition) => ({
    text: condition.text,
    missed: (result: LoadResult) => missed(condition, result),
  }));
  const load = { ...options, rate: options.rate ?? 1 };
  return saturate({ load, objectives, repeat }, hooks);
}
