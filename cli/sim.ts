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

The same seed and options give the same digest on any machine, whatever --verifier checks.
Progress lines name what is on disk at that moment, which differs from run to run.`,
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
  const { Interrupted, simulate } = await import('../sim/index.js');
  const shown = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  process.stderr.write(`folkmoot sim ${shown.join(' ')}\n`);
  const made = { version: packageVersion(), commit: commitHash(), node: process.version };
  const interrupt = interruption();
  const progress = showProgress(options.blocks);
  const hooks = { onProgress: progress.update, signal: interrupt.signal, made };
  try {
    const result = await simulate(options, hooks);
    progress.stop();
    const text = json ? JSON.stringify(result) : (await import('./summary.js')).summary(result);
    process.stdout.write(`${text}\n`);
    if (options.out !== undefined) process.stderr.write(`kept in ${options.out}\n`);
    process.exitCode = result.outcome === 'pass' ? exitCodes.done : exitCodes.noProgress;
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    const kept = options.out === undefined ? 'nothing was kept' : `kept in ${options.out}/network`;
    process.stderr.write(`interrupted: entries 0 to ${error.seq} are durable; ${kept}\n`);
    interrupt.end();
  }
}

/** The first SIGINT or SIGTERM ends the run in good order; `end` then dies by it. */
function interruption(): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  let by: NodeJS.Signals = 'SIGINT';
  const handle = (signal: NodeJS.Signals) => {
    by = signal;
    for (const name of signals) process.off(name, handle);
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.once(name, handle);
  return { signal: controller.signal, end: () => process.kill(process.pid, by) };
}
