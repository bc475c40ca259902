/** `folkmoot sim`: runs a simulation and prints what came of it. */
import { Command, Option } from 'commander';
import { policies, weightings } from '../engine/index.js';
import { type SimOptions, simBounds, simDefaults } from '../sim/options.js';
import { exitCodes, UsageError } from './exit.js';
import { integer } from './options.js';
import { commitHash, packageVersion } from './version.js';

interface Flags extends Omit<SimOptions, 'out'> {
  out?: string;
  json?: boolean;
}

export function simCommand(): Command {
  const d = simDefaults;
  return new Command('sim')
    .description('run scripted agents through consensus in virtual time')
    .option('--seed <text>', 'whatever is drawn by chance follows from it', d.seed)
    .addOption(bounded('--agents <n>', 'how many agents', 'agents'))
    .addOption(bounded('--blocks <n>', 'how many blocks must close', 'blocks'))
    .addOption(
      new Option('--policy <name>', 'how votes decide').choices(policies).default(d.policy),
    )
    .addOption(
      new Option('--weights <name>', 'what a vote weighs').choices(weightings).default(d.weights),
    )
    .addOption(
      new Option('--verifier <name>', 'who checks signatures; off still signs, and skips the check')
        .choices(['pool', 'inline', 'reference', 'off'])
        .default(d.verifier),
    )
    .option('--out <dir>', 'keep log and state (DIR/network), summary.json, blocks.csv, agents.csv')
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
Examples:
  $ folkmoot sim --seed 7 --agents 300 --blocks 20 --json
  $ folkmoot sim --policy majority --weights reputation --out runs/majority

The same seed and options give the same digest on any machine, whatever --verifier checks.`,
    )
    .action(run);
}

function bounded(flag: string, text: string, name: keyof typeof simBounds): Option {
  const { least, most } = simBounds[name];
  return new Option(flag, text).argParser(integer({ least, most })).default(simDefaults[name]);
}

async function run({ json = false, ...options }: Flags): Promise<void> {
  if (options.seed === '') throw new UsageError('--seed is empty; expected a text, such as 7');
  const { showProgress } = await import('./progress.js');
  const { simulate } = await import('../sim/index.js');
  const shown = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  process.stderr.write(`folkmoot sim ${shown.join(' ')}\n`);
  const progress = showProgress(options.blocks);
  const result = await simulate(options, { onProgress: progress.update });
  progress.stop();
  const made = { version: packageVersion(), commit: commitHash(), node: process.version };
  const text = json
    ? JSON.stringify({ ...result, ...made })
    : (await import('./summary.js')).summary(result);
  process.stdout.write(`${text}\n`);
  process.exitCode = result.outcome === 'pass' ? exitCodes.done : exitCodes.noProgress;
}
