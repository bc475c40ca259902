import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Store } from '../../engine/store/store.js';
import type { Attribution } from '../../sim/attribution/ablation.js';
import { omitAbsent } from '../options/client.js';
import { blockSyntax, findStoredBlock } from '../options/ids.js';
import { CliCommand, integer } from '../options/options.js';
import { budgetOptions, readDeciderFlags } from '../options/scenario.js';
import { interruption, UsageError } from '../output/exit.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { roughTime, showCount } from '../output/progress.js';

interface Flags {
  mechanical?: boolean;
  most: number;
  replicates: number;
  mostReplicates?: number;
  margin?: number;
  kind?: Kind[];
  folder?: string;
  record?: boolean;
  mostCalls?: number;
  cache?: string;
  jobs?: number;
  json?: boolean;
}

/** Equal to the list in sim/attribution, which is loaded on demand. */
const kinds = ['meme', 'agent', 'alliance'] as const;
type Kind = (typeof kinds)[number];

export function whyCommand(): CliCommand {
  return new CliCommand('why')
    .description("explain a block's outcome: power, swing votes, causes")
    .argument('<dir>', 'saved run or data folder')
    .argument('<block>', blockSyntax)
    .option('--mechanical', 'use the log only, without new runs')
    .option('--most <n>', 'number of candidates to test', integer(1, 1_000), 10)
    .option('--replicates <n>', 'pairs of runs per candidate', integer(2, 10_000), 20)
    .option(
      '--most-replicates <n>',
      'limit for adding pairs (default: --replicates)',
      integer(2, 10_000),
    )
    .option('--margin <d>', 'effect size to test for equivalence', share)
    .option(
      '--kind <name>',
      'kind of candidate, may be repeated (default: all)',
      (name: string, before: Kind[] | undefined) => [...(before ?? []), kindOf(name)],
    )
    .option('--folder <dir>', "folder with the run's scripts and data files")
    .option('--record', 'ask external deciders about changed views')
    .addOptions(budgetOptions())
    .option('--jobs <n>', 'parallel runs (default: one per core)', integer(1, 256))
    .option('--json', 'print one JSON object')
    .notes(`
The first line answers why: the count, the votes that it needed, and the causes
that new runs have shown. Then prints the voting power of the electorate (exact
Banzhaf and Shapley-Shubik indices) and the swing votes: individual votes that
would have changed the outcome. The mechanical recount removes agents, memes or
alliances from the tally without new decisions.

For a saved run, also tests candidates (kinds: ${kinds.join(', ')}): re-runs
the simulation with and without each, in pairs with common random numbers.
Intervals are 95 %. p is exact, with Holm correction. --most-replicates adds
pairs for undecided candidates. --margin tests for effects smaller than d.

A run with external deciders needs --record. Each candidate is then omitted
once, with the same draws and the recorded answers. Only agents that see
something else are asked, with at most --most-calls calls in all. --cache keeps
their answers. See docs/attribution.md.`)
    .examples(
      'why runs/7 12',
      'why runs/7 12 --kind meme --most 40 --replicates 30',
      'why runs/7 12 --kind agent --most-replicates 320 --margin 0.1',
      'why folkmoot-data 3f9a0c11',
      'why runs/7 12 --mechanical --json | jq .swings',
    )
    .action(run);
}

function kindOf(name: string): Kind {
  const known = kinds.find((kind) => kind === name);
  if (known) return known;
  throw new InvalidArgumentError(`expected one of ${kinds.join(', ')}`);
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value < 1) return value;
  throw new InvalidArgumentError('expected a number above 0 and below 1, such as 0.1');
}

async function run(folder: string, named: string, flags: Flags): Promise<void> {
  const { explain } = await import('../../sim/attribution/explanation.js');
  const { readGenesis } = await import('../../engine/node/open-store.js');
  const { prepareRule } = await import('../../engine/rules/sandbox.js');
  const { openForReading } = await import('../options/folder.js');
  const store = openForReading(folder);
  try {
    const block = await findStoredBlock(store, folder, named);
    await prepareRule(readGenesis(store));
    const explanation = explain(store, block);
    const attribution = flags.mechanical ? null : await attributed(store, folder, block, flags);
    const { explanationLines, attributionLines, describeCauses } = await import('./why-text.js');
    const answer = `${explanation.answer}; ${describeCauses(attribution)}`;
    if (flags.json) return printJson({ ...explanation, answer, attribution });
    const reason = flags.mechanical ? 'no new runs: --mechanical' : null;
    await writeStdoutAsync(
      answer,
      '',
      ...explanationLines(explanation),
      '',
      ...attributionLines(attribution, reason),
    );
  } finally {
    await store.close();
  }
}

/** Returns null if the folder is not a saved run. */
async function attributed(
  store: Store,
  folder: string,
  block: string,
  flags: Flags,
): Promise<Attribution | null> {
  const { kind = [...kinds], most, replicates, mostReplicates, margin, jobs } = flags;
  const { attribute } = await import('../../sim/attribution/ablation.js');
  const { readKeptResult } = await import('../../sim/fork/kept-run.js');
  if (mostReplicates !== undefined && mostReplicates < replicates) {
    const [option, value] = ['--most-replicates', mostReplicates];
    const expected = `at least --replicates, ${replicates}`;
    throw new UsageError('INVALID_VALUE', { option, value, expected });
  }
  const { signal, end } = interruption();
  const progress = showCount(0, 'forks', jobs ?? availableParallelism());
  try {
    const found = await attribute(store, folder, block, {
      kinds: kind,
      ...{ most, replicates, signal },
      recorded: { record: flags.record ?? false, ...readDeciderFlags(flags) },
      ...omitAbsent({ mostReplicates, margin, folder: flags.folder, jobs }),
      onProgress(done, of) {
        if (done === 0 && !flags.record) printEstimate(readKeptResult(folder)!.wall_ms, of, jobs);
        progress.update(done, of);
      },
    });
    progress.stop();
    return found;
  } catch (error) {
    progress.stop();
    if (!signal.aborted) throw error;
    writeStderr('folkmoot: interrupted; no result was saved');
    end();
    return null;
  }
}

/** Prints a time estimate before the first fork, based on the duration of the original run. */
function printEstimate(wallMs: number, forks: number, jobs = availableParallelism()): void {
  if (forks === 0) return;
  const longestMs = wallMs * (1 + Math.ceil(forks / jobs));
  writeStderr(
    `folkmoot: ${forks} forks of a run of ${roughTime(wallMs)}, ${jobs} in parallel: up to about ` +
      `${roughTime(longestMs)}; lower --replicates to save time, or use --mechanical`,
  );
}
