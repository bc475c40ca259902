/** `folkmoot sim`: runs a scenario, on a page where that is asked for, and prints its result. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { VerifierKind } from '../../engine/crypto/create-verifier.js';
import { policies, weightings } from '../../engine/protocol/schema/genesis.js';
import type { Scenario, SimHooks, SimResult } from '../../sim/index.js';
import { httpUrl } from '../options/client.js';
import { integer, watchedSpeed } from '../options/options.js';
import {
  type DeciderFlags,
  deciderOptions,
  readDeciderFlags,
  type ScenarioFlags,
  scenarioOptions,
  scriptSeconds,
  wantedScenario,
} from '../options/scenario.js';
import {
  assertUiServerFlags,
  openUiServer,
  uiServerOptions,
  type WatchFlags,
  watchOption,
} from '../options/ui-server.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { io, setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';
import { build } from '../output/provenance.js';

interface SimFlags extends ScenarioFlags, DeciderFlags, PacedFlags {
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
  for (const option of [...uiServerOptions(), ...deciderOptions()]) command.addOption(option);
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
    const { checkDeterminism } = await import('./determinism.js');
    if (flags.record) {
      const how = 'keep what deciders say first, then compare with --cassette';
      throw new UsageError(`--check-determinism is not for --record: ${how}`);
    }
    return checkDeterminism(io().argv.slice(1));
  }
  const { scenario, folder } = await wantedScenario(file, flags);
  const deciders = readDeciderFlags(flags);
  if (flags.speed !== undefined && flags.url === undefined && !flags.watch) {
    throw new UsageError('--speed is for --url and --watch: else time is virtual');
  }
  const remoteSpeed = flags.speed === 'max' ? null : (flags.speed ?? 1);
  if (flags.url !== undefined && remoteSpeed === null) {
    throw new UsageError('--speed max is not for --url: a server has a clock; give a number');
  }
  assertUiServerFlags(flags);
  const { showProgress } = await import('../output/progress.js');
  const { Interrupted, simulate } = await import('../../sim/run/simulate.js');
  const shown = `seed=${scenario.seed} agents=${scenario.population} ${scenario.consensus.policy}`;
  writeStderr(`folkmoot sim: ${scenario.title} (${shown})`);
  const { verifier, store, out, audit, url, scriptSeconds: limit } = flags;
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  const onNote = (note: string) => writeStderr(`folkmoot: note: ${note}`);
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
    const live = url === undefined ? null : await import('../../sim/run/remote-run.js');
    const result = live
      ? await live.simulateRemote(scenario, { ...kept, url: url!, speed: remoteSpeed! }, hooks)
      : await simulate(scenario, options, hooks);
    progress.stop();
    await printResult(result, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    writeStderr(`interrupted: ${whatIsLeft(error.seq, flags)}`);
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
  else writeStdout(...(await import('./sim-summary.js')).summary(result));
  if (out !== undefined) {
    const { writeRunReport } = await import('../../sim/report/index.js');
    await writeRunReport(out);
    writeStderr(`kept in ${out}; to look at: ${out}/report.html`);
  }
  const codes = { pass: exitCodes.done, no_progress: exitCodes.noProgress };
  setExitCode(result.verdict === 'safety' ? exitCodes.safety : codes[result.verdict]);
}

interface PacedFlags extends WatchFlags {
  /** Seconds of the run in one second. */
  speed?: number | 'max';
}

/** A reader can follow it: the agents of the shipped scenarios take seconds for a block. */
const WATCHED_SPEED = 1;

/** How long the end waits for who was made something to fetch it. */
const FETCH_MS = 2_000;

/** What looks on, and paces. */
async function watching(
  scenario: Scenario,
  flags: PacedFlags,
  signal: AbortSignal,
): Promise<SimHooks> {
  const { createRunView, describeScenario } = await import('../../sim/run-view.js');
  const { Pace } = await import('../../sim/run/pace.js');
  const paused = flags.watch === 'paused';
  const { speed = WATCHED_SPEED } = flags;
  const control = new Pace({ paused, speed: speed === 'max' ? null : speed, signal });
  const run = createRunView(scenario);
  // A page waits for what is made beside the run, a bit each turn: so the run waits meanwhile.
  let making: () => Promise<void> | undefined = () => undefined;
  return {
    onGraph: run.hears,
    async onNetwork(network) {
      control.begin(network);
      const shown = describeScenario(scenario, scenario.seed, network.read.position.at);
      const more = shown ? { control, run, scenario: shown } : { control, run };
      const server = await openUiServer(network, flags, more);
      making = () => server.making();
      const how = paused ? 'it waits for its start there' : 'the run does not wait for it';
      const pace = speed === 'max' ? 'as fast as it can' : `at ${speed}x wall time`;
      writeStderr(`folkmoot: ${server.page} shows the run, ${pace}; ${how}`);
      return async () => {
        control.end();
        await server.close();
      };
    },
    pace(now) {
      const made = making();
      return made ? made.then(() => control.pace(now)) : control.pace(now);
    },
    async onOver() {
      const made = making();
      if (made) await made.then(() => sleep(FETCH_MS, undefined, { signal })).catch(() => {});
      const { paused: stands, until } = control.clock();
      if (stands || until !== null)
        writeStderr('folkmoot: the run is over, and waits: resume lets it end');
      await control.over();
    },
  };
}
