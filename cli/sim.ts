/** `folkmoot sim`: runs a scenario and prints what came of it. */
import { Command, Option } from 'commander';
import { policies, type VerifierKind, weightings } from '../engine/index.js';
import type { SimResult } from '../sim/index.js';
import { exitCodes } from './exit.js';
import { integer } from './options.js';
import { type ScenarioFlags, scenarioOptions, wantedScenario } from './scenario-options.js';
import { interruption } from './signals.js';
import { commitHash, packageVersion } from './version.js';

export interface SimFlags extends ScenarioFlags {
  verifier: VerifierKind;
  out?: string;
  store?: 'lmdb' | 'memory';
  audit: boolean;
  json?: boolean;
}

export function simCommand(): Command {
  const command = new Command('sim')
    .description('run scripted agents through consensus in virtual time')
    .argument('[file]', 'a scenario, YAML or JSON; without it a mixed town');
  for (const option of scenarioOptions()) command.addOption(option);
  return command
    .addOption(new Option('--policy <name>', 'how votes decide').choices(policies))
    .addOption(new Option('--weights <name>', 'what a vote weighs').choices(weightings))
    .option('--agents <n>', 'size of the town', integer({ least: 1, most: 200_000 }))
    .option('--blocks <n>', 'how many blocks must close', integer({ least: 1, most: 1_000_000 }))
    .addOption(
      new Option('--verifier <name>', 'who checks signatures; off still signs, and skips the check')
        .choices(['pool', 'inline', 'reference', 'off'])
        .default('pool'),
    )
    .option('--unsigned', 'no signatures at all, which genesis and summary then say')
    .option('--no-audit', 'leave out the independent model that checks every step')
    .addOption(
      new Option('--store <name>', 'where the network is while it runs, without --out')
        .choices(['lmdb', 'memory'])
        .default('lmdb'),
    )
    .option('--out <dir>', 'keep network/ (log and state), summary.json, tables and report.html')
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
Examples:
  $ folkmoot sim                                      1,000 agents, 100 blocks
  $ folkmoot sim --seed 7 --agents 300 --blocks 20 --json
  $ folkmoot sim town.yaml --out runs/town            tables and a report to look at
  $ folkmoot sim town.yaml --set agents.town.share=0.4 --set consensus.policy=veto

The same scenario and seed give the same digest on any machine, whatever --verifier checks.
Progress lines name what is on disk at that moment, which differs from run to run.
Exit codes: 0 pass, 10 no progress, 11 the network broke a rule of its own, 2 usage.`,
    )
    .action(run);
}

async function run(file: string | undefined, flags: SimFlags): Promise<void> {
  const { scenario, folder } = await wantedScenario(file, flags);
  const { showProgress } = await import('./progress.js');
  const { Interrupted, simulate } = await import('../sim/simulate.js');
  const shown = `seed=${scenario.seed} agents=${scenario.population} ${scenario.consensus.policy}`;
  process.stderr.write(`folkmoot sim: ${scenario.title} (${shown})\n`);
  const { verifier, store, out, audit } = flags;
  const made = { version: packageVersion(), commit: commitHash(), node: process.version };
  const interrupt = interruption();
  const progress = showProgress();
  const hooks = { onProgress: progress.update, signal: interrupt.signal, made };
  const options = {
    verifier,
    audit,
    ...(store === undefined ? {} : { store }),
    ...(out === undefined ? {} : { out }),
    ...(folder === undefined ? {} : { folder }),
  };
  try {
    const result = await simulate(scenario, options, hooks);
    progress.stop();
    await tell(result, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    const kept = out === undefined ? 'nothing was kept' : `kept in ${out}/network`;
    process.stderr.write(`interrupted: entries 0 to ${error.seq} are durable; ${kept}\n`);
    interrupt.end();
  }
}

async function tell(result: SimResult, { json, out }: SimFlags): Promise<void> {
  const text = json ? JSON.stringify(result) : (await import('./summary.js')).summary(result);
  process.stdout.write(`${text}\n`);
  if (out !== undefined) {
    const { writeRunReport } = await import('../sim/report/index.js');
    await writeRunReport(out);
    process.stderr.write(`kept in ${out}; to look at: ${out}/report.html\n`);
  }
  const codes = { pass: exitCodes.done, no_progress: exitCodes.noProgress };
  process.exitCode = result.verdict === 'safety' ? exitCodes.safety : codes[result.verdict];
}
