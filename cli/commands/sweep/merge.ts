/** `folkmoot merge`: makes one sweep of the shards that several machines ran. */
import { Command } from 'commander';
import type { MissingShard, SweepResult } from '../../../sim/sweep/index.js';
import { exitCodes } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';
import { build } from '../../output/version.js';
import { summary, tellFailed } from './result.js';

interface Flags {
  out: string;
  resume?: boolean;
  json?: boolean;
}

export function mergeCommand(): Command {
  return new Command('merge')
    .description('make one sweep of its shards, with tables and report')
    .argument('<dir...>', 'the folders of all shards, in any order')
    .requiredOption('--out <dir>', 'where the whole sweep is kept')
    .option('--resume', 'go on with a merge into that folder that was ended')
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
The shards are folders that folkmoot sweep --shard i/n has left, of one sweep and of this build.
Each run must be there once, as its shard kept it. What is missing is listed, with exit code 2, and
nothing is written; what was changed since (runs.sha256 says so) is damaged, exit code 13.

DIR is what folkmoot sweep would have left in one folder, byte for byte, and can go on as such.

Examples:
  $ folkmoot sweep byzantine --shard 1/2 --out shards/1
  $ folkmoot sweep byzantine --shard 2/2 --out shards/2
  $ folkmoot merge shards/1 shards/2 --out sweeps/byzantine
  $ folkmoot merge shards/* --out sweeps/byzantine --json`,
    )
    .action(run);
}

async function run(folders: string[], flags: Flags): Promise<void> {
  const { out, resume = false, json = false } = flags;
  const { MissingRunsError, mergeSweep } = await import('../../../sim/sweep/index.js');
  const { showCount } = await import('../../output/progress.js');
  const progress = showCount(0, 'runs');
  let result: SweepResult;
  try {
    const made = build();
    result = await mergeSweep(folders, { out, made, resume, onProgress: progress.update });
  } catch (error) {
    if (!(error instanceof MissingRunsError)) throw error;
    if (json) printJson({ out, missing: error.missing });
    say(`folkmoot: ${error.message}`, ...error.missing.map(missingText));
    process.exitCode = exitCodes.usage;
    return;
  } finally {
    progress.stop();
  }
  if (json) printJson({ out, ...result });
  else print(...summary(out, result));
  if (result.failed) tellFailed('FILE', result.failed, false);
}

/** How many missing runs of a shard are named. */
const NAMED = 10;

function missingText({ shard, of, folder, runs }: MissingShard): string {
  const which = `--shard ${shard}/${of}`;
  if (folder === null) return `${which}: no folder of it; missing runs: ${runs.length}`;
  const goOn = `${which} --resume --out ${folder} goes on with it`;
  if (runs.length === 0) return `${folder}: not finished; ${goOn}`;
  const named = runs.slice(0, NAMED).map(({ cell, replicate }) => `${cell}/${replicate}`);
  const rest = runs.length > NAMED ? ` and ${runs.length - NAMED} more` : '';
  return `${folder}: missing runs, as cell/replicate: ${named.join(', ')}${rest}; ${goOn}`;
}
