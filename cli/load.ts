/** `folkmoot load`: asks a live server as much as is wished, and says what it gave. */
import { Command } from 'commander';
import type { LoadOptions, LoadResult, SaturateHooks } from '../bench/load/index.js';
import { exitCodes } from './exit.js';
import { loadCompareCommand } from './load-compare.js';
import { addLoadOptions, type LoadFlags, loadOptions } from './load-options.js';
import { showLoad, showProbe } from './load-progress.js';
import { loadSummary } from './load-summary.js';
import { interruption } from './signals.js';
import { commitHash } from './version.js';

const help = `
Latencies count from when a request was to be sent, so a server that stalls cannot hide it. The
verdict says whether figures can be trusted: VALID; UNSTABLE, the halves of the run disagree;
CLIENT_BOUND, the generator was too slow; INVALID, under 99 % of the rate was accepted. Durations
have a unit: 500ms, 10s, 2m. The rate of transactions is transactions a second.

Exit codes: 0 done; 1 the server is not there, or limits what was asked; 2 usage;
14 INVALID or CLIENT_BOUND; 15 what --fail-on names.

Examples:
  $ folkmoot serve --limits off                            the server, in another terminal
  $ folkmoot load --workload reads --rate 2000
  $ folkmoot load --agents 1000 --rate 3000 --duration 30s --out runs/votes
  $ folkmoot load --workload reads --concurrency 32 --json
  $ folkmoot load --saturate --slo p99=200ms --agents 1000
  $ folkmoot load --workload transactions --rate 2000 --fail-on 'finality.p99>2s,errors>1%'`;

export function loadCommand(): Command {
  return addLoadOptions(new Command('load'))
    .description('measure how much a live server takes, and how long it takes')
    .addHelpText('after', help)
    .addCommand(loadCompareCommand())
    .action(run);
}

async function run(flags: LoadFlags): Promise<void> {
  const options = await loadOptions(flags);
  const { met, parseConditions } = await import('../bench/load/figures/conditions.js');
  const conditions = parseConditions(flags.failOn ?? [], { relative: false });
  const files = await import('../bench/load/files/index.js');
  if (flags.out !== undefined) await files.prepareLoad(flags.out);
  const interrupt = interruption();
  const hooks = {
    // Of a search, only its probes are told.
    ...(flags.saturate ? { onProbe: showProbe } : showLoad(options)),
    signal: interrupt.signal,
    commit: commitHash() ?? 'unknown',
  };
  const result = await resultOf(options, flags, hooks);
  if (flags.out !== undefined) await files.writeLoad(result, flags.out);
  process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : `${loadSummary(result)}\n`);
  const failed = conditions.flatMap((condition) => met(condition, result) ?? []);
  for (const sentence of failed) process.stderr.write(`folkmoot: ${sentence}\n`);
  process.exitCode = exitCodeOf(result, failed);
}

async function resultOf(
  options: LoadOptions,
  { saturate: wanted, slo: texts = [], repeat = 3 }: LoadFlags,
  hooks: SaturateHooks,
): Promise<LoadResult> {
  const { runLoad, saturate } = await import('../bench/load/index.js');
  const { rawSpeed } = await import('../bench/raw.js');
  if (!wanted) return runLoad(options, { ...hooks, r: rawSpeed() });
  const { met, slo } = await import('../bench/load/figures/conditions.js');
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
