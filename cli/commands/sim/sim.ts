/** `folkmoot sim`: runs a scenario and prints what came of it. */
import { Command, Option } from 'commander';
import type { VerifierKind } from '../../../engine/internal.js';
import { policies, weightings } from '../../../engine/protocol/schema/genesis.js';
import type { SimResult } from '../../../sim/index.js';
import { httpUrl } from '../../options/client.js';
import { type DeciderFlags, deciderOptions, decidersFrom } from '../../options/deciders.js';
import { integer, watchedSpeed } from '../../options/options.js';
import {
  type ScenarioFlags,
  scenarioOptions,
  scriptSeconds,
  wantedScenario,
} from '../../options/scenario.js';
import { exitCodes, UsageError } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';
import { interruption } from '../../output/signals.js';
import { build } from '../../output/version.js';
import { assertDoor, doorOptions, watchOption } from '../page/door.js';
import { type PacedFlags, watching } from './watch.js';

export interface SimFlags extends ScenarioFlags, DeciderFlags, PacedFlags {
  verifier: VerifierKind;
  out?: string;
  store?: 'lmdb' | 'memory';
  audit: boolean;
  url?: string;
  scriptSeconds?: number;
  checkDeterminism?: boolean;
  json?: boolean;
}

export function simCommand(): Command {
  const command = new Command('sim')
    .description('run scripted agents through consensus, in virtual time or on a server')
    .argument('[file]', 'a scenario, YAML or JSON; without it a mixed population');
  for (const option of scenarioOptions()) command.addOption(option);
  command
    .addOption(new Option('--policy <name>', 'how votes decide').choices(policies))
    .addOption(new Option('--weights <name>', 'what a vote weighs').choices(weightings))
    .option('--agents <n>', 'size of the population', integer({ least: 1, most: 200_000 }))
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
    .option('--check-determinism', 'run it twice, and say where the runs part if they differ')
    .option('--out <dir>', 'keep network/ (log and state), summary.json, tables and report.html')
    .addOption(
      new Option('--url <url>', 'run on this server in wall time, among its other agents')
        .argParser(httpUrl)
        .conflicts([
          ...['policy', 'weights', 'verifier', 'unsigned', 'audit', 'store'],
          ...['record', 'cassette', 'mostCalls'],
        ]),
    )
    .addOption(
      new Option(
        '--speed <x>',
        'with --url or --watch: seconds of the run in one second, or max; default: 1',
      ).argParser(watchedSpeed),
    )
    .addOption(watchOption('the run').conflicts(['url', 'checkDeterminism']))
    .addOption(scriptSeconds());
  for (const option of [...doorOptions(), ...deciderOptions()]) command.addOption(option);
  return command
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
Examples:
  $ folkmoot sim                                      1,000 agents, 100 blocks
  $ folkmoot sim --seed 7 --agents 300 --blocks 20 --json
  $ folkmoot sim healthy-town --out runs/town        tables and a report to look at
  $ folkmoot sim byzantine --set agents.adversaries.share=0.4 --set consensus.policy=veto

The same scenario and seed give the same digest on any machine, whatever --verifier checks.
Progress lines name what is on disk at that moment, which differs from run to run.

With --url the agents sign and send as any others do, and no two runs are the same. Links and faults
are simulated on top. Consensus is the server's. --speed makes agents think, wait and hear faster;
the server's own periods (voting, alliances) stay what they are. With --out the tables are kept; the
log is the server's. At the end, and when interrupted, the agents become inactive.
  $ folkmoot sim healthy-town --url http://127.0.0.1:8080 --speed 5

With --watch a page shows the run while it is made, at the address that is printed; who has that
address, with its token, may pause it, let it step, go on until a block or an outcome, and set its
speed. None of that changes the log: the digest is that of the run without --watch. A watched run
goes at the speed of the wall clock. --speed 10 makes it ten times as fast, --speed max as fast as
it can. The command ends with the run, unless the run was stopped by hand.
  $ folkmoot sim healthy-town --watch=paused --out runs/town
  $ folkmoot sim meme-storm --watch --speed 10

A scenario may let programs, servers or models decide for its agents (docs/deciders.md). With
--record they are asked, and whatever they answer is kept in DIR/decisions.cassette as it comes: the
same command again goes on where it was. With --cassette the answers of an earlier run are taken
instead, and nobody is asked; with both, what is not there is asked.
  $ folkmoot sim models.yaml --record --most-calls 500 --out runs/models
  $ folkmoot sim models.yaml --cassette runs/models --out runs/again
  $ folkmoot sim models.yaml --set length.blocks=30 --cassette runs/models --record --out runs/30

Exit codes: 0 pass, 10 no progress, 11 the network broke a rule of its own, 2 usage; 1 the server
cannot be used, or went away; 16 an answer is needed that no cassette has, or no calls are left.`,
    )
    .action(run);
}

async function run(file: string | undefined, flags: SimFlags): Promise<void> {
  if (flags.checkDeterminism) {
    if (flags.url !== undefined) {
      throw new UsageError('--check-determinism is not for --url: no two runs there are the same');
    }
    const { checkDeterminism } = await import('./check-determinism.js');
    if (flags.record) {
      const how = 'keep what deciders say first, then compare with --cassette';
      throw new UsageError(`--check-determinism is not for --record: ${how}`);
    }
    return checkDeterminism(process.argv.slice(3));
  }
  const { scenario, folder } = await wantedScenario(file, flags);
  const deciders = decidersFrom(flags);
  if (flags.speed !== undefined && flags.url === undefined && !flags.watch) {
    throw new UsageError('--speed is for --url and --watch: else time is virtual');
  }
  const remoteSpeed = flags.speed === 'max' ? null : (flags.speed ?? 1);
  if (flags.url !== undefined && remoteSpeed === null) {
    throw new UsageError('--speed max is not for --url: a server has a clock; give a number');
  }
  assertDoor(flags);
  const { showProgress } = await import('../../output/progress.js');
  const { Interrupted, simulate } = await import('../../../sim/run/simulate.js');
  const shown = `seed=${scenario.seed} agents=${scenario.population} ${scenario.consensus.policy}`;
  say(`folkmoot sim: ${scenario.title} (${shown})`);
  const { verifier, store, out, audit, url, scriptSeconds: limit } = flags;
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  const onNote = (note: string) => say(`folkmoot: note: ${note}`);
  const { signal } = interrupt;
  const onlooker = flags.watch ? await watching(scenario, flags, signal) : {};
  const hooks = { onProgress: progress.update, signal, made, onNote, ...onlooker };
  const kept = {
    ...(out === undefined ? {} : { out }),
    ...(folder === undefined ? {} : { folder }),
    ...(limit === undefined ? {} : { scriptMs: limit * 1_000 }),
  };
  const options = {
    ...{ ...kept, verifier, audit, deciders },
    ...(store === undefined ? {} : { store }),
  };
  try {
    const live = url === undefined ? null : await import('../../../sim/run/live/index.js');
    const result = live
      ? await live.simulateRemote(scenario, { ...kept, url: url!, speed: remoteSpeed! }, hooks)
      : await simulate(scenario, options, hooks);
    progress.stop();
    await printResult(result, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    say(`interrupted: ${whatIsLeft(error.seq, flags)}`);
    interrupt.end();
  }
}

function whatIsLeft(seq: number, { url, out }: SimFlags): string {
  if (url !== undefined) return `what was done is in the log of ${url}; nothing was kept here`;
  const kept = out === undefined ? 'nothing was kept' : `kept in ${out}/network`;
  return `entries 0 to ${seq} are durable; ${kept}`;
}

async function printResult(result: SimResult, { json, out }: SimFlags): Promise<void> {
  if (json) printJson(result);
  else print(...(await import('./summary.js')).summary(result));
  if (out !== undefined) {
    const { writeRunReport } = await import('../../../sim/report/index.js');
    await writeRunReport(out);
    say(`kept in ${out}; to look at: ${out}/report.html`);
  }
  const codes = { pass: exitCodes.done, no_progress: exitCodes.noProgress };
  process.exitCode = result.verdict === 'safety' ? exitCodes.safety : codes[result.verdict];
}
