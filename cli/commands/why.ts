/** `folkmoot why`: why a block ended as it did. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Store } from '../../engine/store/store.js';
import type { Attribution } from '../../sim/attribution/ablation.js';
import { blockSyntax, findStoredBlock } from '../options/ids.js';
import { integer } from '../options/options.js';
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
  jobs?: number;
  json?: boolean;
}

/** As sim/attribution has them, which is loaded later. */
const kinds = ['meme', 'agent', 'alliance'] as const;
type Kind = (typeof kinds)[number];

export function whyCommand(): Command {
  return new Command('why')
    .description('say why a block ended as it did: who was pivotal, and what else would have')
    .argument('<dir>', 'a folder that sim --out or serve --data wrote')
    .argument('<block>', blockSyntax)
    .option('--mechanical', 'only what the log says: nothing is run again')
    .option('--most <n>', 'of a kept run: leave out so many at most', bounded(1, 1_000), 10)
    .option('--replicates <n>', 'pairs of runs for each candidate', bounded(2, 10_000), 20)
    .option(
      '--most-replicates <n>',
      'double the pairs of open candidates, up to n (default: --replicates)',
      bounded(2, 10_000),
    )
    .option('--margin <d>', 'test that effects are smaller than d', share)
    .addOption(
      new Option(
        '--kind <name>',
        `leave out only these; again for more: ${kinds.join(', ')}`,
      ).argParser((name: string, before: Kind[] | undefined) => [...(before ?? []), kindOf(name)]),
    )
    .option('--folder <dir>', "where the run's scripts and data files are, if it has any")
    .option('--jobs <n>', 'how many run at a time; default: one a core', bounded(1, 256))
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Power is what the weights give, whoever decides how: exact Banzhaf and Shapley-Shubik indices of the
electorate that was in force. A swing vote is one that, had it been another or none, would have
changed the outcome of the votes that were cast. What is counted again without an agent, a meme or
an alliance is mechanical: nobody was asked again.

Of a kept run the memes, agents and alliances on which most votes hang are left out, one by one: the
run is made again and forked, in pairs that have the same chance, with it and without it. Intervals
are of 95 %; p is exact, and by Holm over all that were left out. With --most-replicates candidates
that are still open get more pairs, and the level is shared between these looks. --margin tests that
an effect is smaller than a size that matters to you. docs/attribution.md defines each.

Examples:
  $ folkmoot why runs/7 12                  the block that is final at height 12
  $ folkmoot why runs/7 12 --kind meme --most 40 --replicates 30
  $ folkmoot why runs/7 12 --kind agent --most-replicates 320 --margin 0.1
  $ folkmoot why folkmoot-data 3f9a0c11     of a server's folder, also while it is served
  $ folkmoot why runs/7 12 --mechanical --json | jq .swings`,
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

function bounded(least: number, most: number) {
  return integer({ least, most });
}

async function run(folder: string, named: string, flags: Flags): Promise<void> {
  const { explain } = await import('../../sim/attribution/explanation.js');
  const { openForReading } = await import('../options/folder.js');
  const store = openForReading(folder);
  try {
    const block = await findStoredBlock(store, named);
    const explanation = explain(store, folder, block);
    const attribution = flags.mechanical ? null : await attributed(store, folder, block, flags);
    if (flags.json) return printJson({ ...explanation, attribution });
    const { explanationLines, attributionLines } = await import('./why-text.js');
    const asked = flags.mechanical ? 'nothing was run again: --mechanical' : null;
    await writeStdoutAsync(
      ...explanationLines(explanation),
      '',
      ...attributionLines(attribution, asked),
    );
  } finally {
    await store.close();
  }
}

/** Null where there is no run that could be made again. */
async function attributed(
  store: Store,
  folder: string,
  block: string,
  { kind = [...kinds], most, replicates, mostReplicates, margin, jobs, folder: source }: Flags,
): Promise<Attribution | null> {
  const { attribute } = await import('../../sim/attribution/ablation.js');
  if (mostReplicates !== undefined && mostReplicates < replicates) {
    const found = `--most-replicates ${mostReplicates} is below --replicates ${replicates}`;
    throw new UsageError(`${found}; expected as many or more`);
  }
  const { signal, end } = interruption();
  const progress = showCount(0, 'forks');
  try {
    const found = await attribute(store, folder, block, {
      kinds: kind,
      ...{ most, replicates, signal },
      ...(mostReplicates === undefined ? {} : { mostReplicates }),
      ...(margin === undefined ? {} : { margin }),
      ...(source === undefined ? {} : { folder: source }),
      ...(jobs === undefined ? {} : { jobs }),
      onProgress(done, of) {
        if (done === 0) sayEstimate(folder, of, jobs);
        progress.update(done, of);
      },
    });
    progress.stop();
    return found;
  } catch (error) {
    progress.stop();
    if (!signal.aborted) throw error;
    writeStderr('folkmoot: interrupted: nothing was kept');
    end();
    return null;
  }
}

/** Says before the first fork how long all of them take, by the time that the run itself took. */
function sayEstimate(folder: string, forks: number, jobs = availableParallelism()): void {
  const wallMs = wallMsOf(folder);
  if (wallMs === null || forks === 0) return;
  const longestMs = wallMs * (1 + Math.ceil(forks / jobs));
  writeStderr(
    `folkmoot: ${forks} forks of a run that took ${roughTime(wallMs)}, ${jobs} at a time: ` +
      `up to about ${roughTime(longestMs)}; --mechanical makes none, fewer --replicates are faster`,
  );
}

/** Null where the folder is not a kept run. */
function wallMsOf(folder: string): number | null {
  try {
    const summary = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as unknown;
    const { wall_ms } = summary as { wall_ms?: unknown };
    return typeof wall_ms === 'number' && Number.isFinite(wall_ms) ? wall_ms : null;
  } catch {
    return null;
  }
}
