import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import type { VerifierKind } from '../../engine/crypto/pool.js';
import { weightings } from '../../engine/protocol/schema/genesis.js';
import { policies } from '../../engine/rules/bundled/policies.js';
import type { Determinism } from '../../sim/compare/determinism.js';
import type { Scenario, SimHooks, SimResult } from '../../sim/index.js';
import type { Laboratory } from '../../sim/sweep/laboratory.js';
import { httpUrl, omitAbsent } from '../options/client.js';
import { CliCommand, integer, threadsOption, watchedSpeed } from '../options/options.js';
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
import { build, simCommandLine } from '../output/provenance.js';

interface SimFlags extends ScenarioFlags, DeciderFlags, PacedFlags {
  verifier: VerifierKind;
  verifyThreads?: number;
  out?: string;
  store?: 'lmdb' | 'memory';
  log?: 'full' | 'none';
  verifyTrace?: string;
  audit: boolean;
  url?: string;
  scriptSeconds?: number;
  checkDeterminism?: boolean;
  json?: boolean;
}

export function simCommand(): CliCommand {
  return new CliCommand('sim')
    .description('run a simulation in virtual time, or against a server')
    .argument('[file]', 'scenario file or name (default: mixed population)')
    .addOptions(scenarioOptions())
    .choice('--policy <name>', 'decision policy', policies)
    .choice('--weights <name>', 'vote weights', weightings)
    .option('--agents <n>', 'number of agents', integer(1, 1_000_000))
    .option('--blocks <n>', 'number of blocks to close', integer(1, 1_000_000))
    .choice(
      '--verifier <name>',
      'signature verifier (off: sign, but do not verify)',
      ['pool', 'inline', 'reference', 'off'],
      'pool',
    )
    .addOption(threadsOption('verifying'))
    .option('--unsigned', 'disable signatures (recorded in the genesis)')
    .option('--no-audit', 'disable the independent audit of every step')
    .choice('--store <name>', 'storage without --out', ['lmdb', 'memory'], 'lmdb')
    .choice('--log <which>', 'none: no log and no digest; same measures', ['full', 'none'], 'full')
    .option('--verify-trace <run>', 'run with a log, and compare with this trace_digest')
    .option('--check-determinism', 'run twice, and print the first difference')
    .option('--out <dir>', 'folder to save the run in, with report.html')
    .addOption(
      new Option('--url <url>', 'run against this server in wall time')
        .argParser(httpUrl)
        .conflicts([
          ...['policy', 'weights', 'verifier', 'unsigned', 'audit', 'store', 'log', 'verifyTrace'],
          ...['verifyThreads', 'record', 'cassette', 'mostCalls', 'cache'],
        ]),
    )
    .option(
      '--speed <x>',
      'factor of wall time (default: 10 with --watch, 1 with --url)',
      watchedSpeed,
    )
    .addOption(watchOption().conflicts(['url', 'checkDeterminism']))
    .addOption(scriptSeconds())
    .addOptions([...uiServerOptions(), ...deciderOptions()])
    .option('--json', 'print one JSON object')
    .notes(`
The same scenario and seed give the same digest on every machine. Progress lines
show how much of the log is durable.

--url sends signed requests to a live server, so runs are not reproducible. The
server keeps the log and decides consensus. Network delays and faults are
simulated. --speed changes the agents only, not the periods of the server. At
the end, the agents become inactive.

--log none keeps no log: a run is faster and has no digest, but the same
measures and trace_digest. --verify-trace repeats a run with a log and compares
the trace_digest (exit code 12 if it differs).

--watch serves a page of the running simulation, in wall time. The token in its
address allows pausing, stepping and changing the speed (--speed max for no
pacing). Watching does not change the digest.

A scenario can use external programs or models as deciders. --record calls them
and records their answers in DIR/decisions.cassette. --cassette replays recorded
answers. With both, missing answers are called. If --most-calls stops a run, the
same command continues it. See docs/deciders.md.`)
    .examples(
      'sim --seed 7 --agents 300 --blocks 20',
      'sim healthy-town --out runs/town',
      'sim byzantine --set agents.adversaries.share=0.4',
      'sim meme-storm --speed 10 --watch',
      'sim models.yaml --record --most-calls 500 --out runs/models',
    )
    .action(run);
}

async function run(file: string | undefined, flags: SimFlags, command: CliCommand): Promise<void> {
  if (flags.log === 'none') assertLogFlags(command);
  if (flags.verifyThreads !== undefined && flags.verifier !== 'pool') {
    const values = { option: '--verify-threads', required: '--verifier pool' };
    throw new UsageError('OPTION_REQUIRES', values);
  }
  if (flags.checkDeterminism) {
    const option = '--check-determinism';
    const conflicts = [
      ['--url', flags.url, 'runs against a server are not reproducible'],
      ['--out', flags.out, 'the check saves no run; save one with a second command'],
      ['--record', flags.record, 'record the answers first, then compare with --cassette'],
    ] as const;
    for (const [other, value, advice] of conflicts) {
      if (value !== undefined) throw new UsageError('OPTION_CONFLICT', { option, other, advice });
    }
    return checkDeterminism(io().argv.slice(1));
  }
  const { scenario, folder } = await wantedScenario(file, flags);
  const deciders = readDeciderFlags(flags);
  if (flags.speed !== undefined && flags.url === undefined && !flags.watch) {
    throw new UsageError('OPTION_REQUIRES', { option: '--speed', required: '--url or --watch' });
  }
  const remoteSpeed = flags.speed === 'max' ? null : (flags.speed ?? 1);
  if (flags.url !== undefined && remoteSpeed === null) {
    const advice = 'give a number';
    throw new UsageError('OPTION_CONFLICT', { option: '--speed max', other: '--url', advice });
  }
  assertUiServerFlags(flags);
  const expected = flags.verifyTrace === undefined ? null : await readTrace(flags.verifyTrace);
  const { showProgress } = await import('../output/progress.js');
  const { Interrupted, simulate } = await import('../../sim/run/simulate.js');
  const shown = `seed=${scenario.seed} agents=${scenario.population} ${scenario.consensus.policy}`;
  writeStderr(`folkmoot sim: ${scenario.title} (${shown})`);
  const { verifier, store, out, audit, url, scriptSeconds: limit, verifyThreads } = flags;
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  const onNote = (note: string) => writeStderr(`folkmoot: note: ${note}`);
  const { signal } = interrupt;
  const laboratory = flags.watch ? await openLaboratory(file, scenario, flags) : null;
  const watchHooks = laboratory ? await watching(scenario, flags, signal, laboratory) : {};
  const hooks = { onProgress: progress.update, signal, made, onNote, ...watchHooks };
  const scriptMs = limit === undefined ? undefined : limit * 1_000;
  const kept = omitAbsent({ out, folder, scriptMs });
  const options = { ...kept, verifier, audit, deciders, ...omitAbsent({ store, verifyThreads }) };
  const unrecorded = { ...kept, audit, deciders, log: 'none' } as const;
  try {
    const live = url === undefined ? null : await import('../../sim/run/remote-run.js');
    const result = live
      ? await live.simulateRemote(scenario, { ...kept, url: url!, speed: remoteSpeed! }, hooks)
      : await simulate(scenario, flags.log === 'none' ? unrecorded : options, hooks);
    progress.stop();
    await printResult(result, flags);
    if (expected !== null) reportTrace(result, expected);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    writeStderr(`interrupted: ${savedText(error.seq, flags)}`);
    interrupt.end();
  }
}

/** Refuses options that need a log. */
function assertLogFlags(command: CliCommand): void {
  const needing = [
    'out',
    'store',
    'verifier',
    'verifyThreads',
    'watch',
    'checkDeterminism',
    'verifyTrace',
  ];
  const given = command.options.find((option) => {
    const name = option.attributeName();
    return needing.includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (!given) return;
  const advice = 'it needs the log of the run';
  throw new UsageError('OPTION_CONFLICT', { option: given.long!, other: '--log none', advice });
}

/** Returns the trace digest in a run folder or a result, or the given digest itself. */
async function readTrace(where: string): Promise<string> {
  if (traceDigest.test(where)) return where;
  const { parseUnique } = await import('../../engine/protocol/repeated-members.js');
  const { fileBounds, readBounded } = await import('../../engine/store/folder.js');
  const expected = 'a run folder, a result in JSON, or 16 hex digits';
  const wrong = () => new UsageError('INVALID_OPTION', { option: '--verify-trace', expected });
  try {
    const path = statSync(where).isDirectory() ? join(where, 'summary.json') : where;
    const found = parseUnique(readBounded(path, fileBounds.result).toString());
    const digest = (found as { trace_digest?: unknown } | null)?.trace_digest;
    if (typeof digest === 'string' && traceDigest.test(digest)) return digest;
  } catch {
    throw wrong();
  }
  throw wrong();
}

const traceDigest = /^[0-9a-f]{16}$/;

function reportTrace({ trace_digest: found = '' }: SimResult, expected: string): void {
  if (found === expected) writeStderr(`folkmoot: same trace with a log: ${found}`);
  else {
    writeStderr(`folkmoot: different trace: ${found}; expected ${expected}`);
    setExitCode(exitCodes.differs);
  }
}

function savedText(seq: number, { url, out, log }: SimFlags): string {
  if (log === 'none') return 'the run has no log; no result was saved';
  if (url !== undefined) return `${url} keeps the log; no result was saved`;
  const kept = out === undefined ? 'no result was saved' : `saved in ${out}/network`;
  return `entries 0 to ${seq} are durable; ${kept}`;
}

async function printResult(result: SimResult, { json, out }: SimFlags): Promise<void> {
  if (json) printJson(result);
  else writeStdout(...(await import('./sim-summary.js')).summary(result));
  if (out !== undefined) {
    const { writeRunReport } = await import('../../sim/report/index.js');
    await writeRunReport(out);
    writeStderr(`saved in ${out}; report: ${out}/report.html`);
  }
  const { done, noProgress, safety } = exitCodes;
  const codes = { pass: done, no_progress: noProgress, conflict: safety, safety };
  setExitCode(codes[result.verdict]);
}

interface PacedFlags extends WatchFlags {
  /** Speed as a factor of wall time. */
  speed?: number | 'max';
}

/** Default speed, at which the first block of a shipped scenario begins within a second. */
const WATCHED_SPEED = 10;

/** Time left at the end for the page to fetch a pending view. */
const FETCH_MS = 2_000;

/** Opens the runs that the page starts. They are variants of the watched scenario. */
async function openLaboratory(
  file: string | undefined,
  scenario: Scenario,
  flags: SimFlags,
): Promise<Laboratory> {
  const { Laboratory } = await import('../../sim/sweep/laboratory.js');
  const { set = [], policy, weights, agents, blocks, unsigned } = flags;
  const given = Object.entries(omitAbsent({ policy, weights, agents, blocks }));
  const words = [
    ...(file === undefined ? [] : [file]),
    ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...(unsigned ? ['--unsigned'] : []),
  ];
  return new Laboratory({
    scenario,
    commandLine: (seed, changes) => simCommandLine(words, seed, [...set, ...changes]),
    make: (changes) => wantedScenario(file, { ...flags, set: [...set, ...changes] }),
  });
}

/** Returns the hooks that serve the page and pace the run. */
async function watching(
  scenario: Scenario,
  flags: PacedFlags,
  signal: AbortSignal,
  laboratory: Laboratory,
): Promise<SimHooks> {
  const { createRunView, describeScenario } = await import('../../sim/run-view.js');
  const { Pace } = await import('../../sim/run/pace.js');
  const paused = flags.watch === 'paused';
  const { speed = WATCHED_SPEED } = flags;
  const control = new Pace({
    ...{ paused, signal, laboratory },
    speed: speed === 'max' ? null : speed,
  });
  const run = createRunView(scenario);
  // The run waits while the server builds a view, because building takes several event-loop turns.
  let shown: ReturnType<typeof describeScenario>;
  let making: () => Promise<void> | undefined = () => undefined;
  return {
    onGraph(graph, labels) {
      run.hears(graph);
      if (shown) shown.labels = labels;
    },
    async onNetwork(network) {
      control.begin(network);
      shown = describeScenario(scenario, scenario.seed, network.read.position.at);
      const more = shown ? { control, run, scenario: shown } : { control, run };
      const server = await openUiServer(network, flags, more);
      making = () => server.making();
      const how = paused ? 'start the run there' : 'the run starts now';
      const pace = speed === 'max' ? 'at full speed' : `at ${speed}x wall time`;
      writeStderr(`folkmoot: ${server.page} shows the run, ${pace}; ${how}`);
      return async () => {
        control.end();
        await laboratory.close();
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
      // A reader at the parameters wants to start runs and compare, so the page stays.
      if (laboratory.used) void control.do({ do: 'pause' });
      const { paused: isPaused, until } = control.clock();
      if (isPaused || until !== null) {
        writeStderr('folkmoot: the run is paused at its end; resume to finish');
      }
      await control.over();
    },
  };
}

/**
 * Runs `folkmoot sim` twice, in two processes. Sets the exit code to 12 if the runs differ, or else
 * to the run's exit code.
 * @param given arguments after `sim`. The check overrides --out, --store and the verifier.
 */
async function checkDeterminism(given: readonly string[]): Promise<void> {
  const { comparedVerifiers, compareRuns } = await import('../../sim/compare/determinism.js');
  const { args, json } = passedOn(given);
  const codes: number[] = [];
  /** Exit code of a run that ended early, and that has printed the reason. */
  let endedEarly: number | null = null;
  try {
    const found = await compareRuns(async (verifier, folder) => {
      writeStderr(`run ${codes.length + 1} of ${comparedVerifiers.length}`);
      const { code, text } = await runOnce([...args, '--verifier', verifier, '--out', folder]);
      codes.push(code);
      if (ran.has(code)) return JSON.parse(text) as SimResult;
      endedEarly = code;
      throw new Error(`the run ended with exit code ${code}`);
    });
    const { same, digest, difference } = found;
    if (json) printJson({ same, digest, ...difference });
    else writeStdout(...readable(found));
    setExitCode(same ? codes[0]! : exitCodes.differs);
  } catch (error) {
    if (endedEarly === null) throw error;
    setExitCode(endedEarly);
  }
}

const overridden = ['--out', '--verifier', '--verify-threads', '--store'];

/** Removes the overridden arguments. */
function passedOn(given: readonly string[]): { args: string[]; json: boolean } {
  const args: string[] = [];
  let json = false;
  for (let index = 0; index < given.length; index += 1) {
    const [name] = given[index]!.split('=', 1) as [string];
    if (name === '--json') json = true;
    else if (overridden.includes(name)) {
      if (name === given[index]) index += 1;
    } else if (name !== '--check-determinism') args.push(given[index]!);
  }
  return { args, json };
}

/** Exit codes of a run that has a result. */
const ran: ReadonlySet<number> = new Set([exitCodes.done, exitCodes.noProgress, exitCodes.safety]);

async function runOnce(args: readonly string[]): Promise<{ code: number; text: string }> {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  const child = spawn(process.execPath, [main, 'sim', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (ended) => resolve(ended ?? exitCodes.crash));
  });
  return { code, text };
}

function readable({ digest, difference }: Determinism): string[] {
  if (!difference) return [`deterministic: both runs have digest ${digest}`];
  const { where, details } = difference;
  const lines = Object.entries(details).map(([name, text]) => `  ${name.padEnd(7)} ${text}`);
  return [`not deterministic: the runs diverge at ${where}`, ...lines];
}
