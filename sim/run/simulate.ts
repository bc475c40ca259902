/**
 * Runs a scenario in virtual time until its length is reached. Opens external deciders and the
 * output folder first, if the scenario and options require them.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier, type VerifierKind } from '../../engine/crypto/create-verifier.js';
import { type VirtualClock, virtualClock } from '../../engine/node/clock.js';
import type { Network } from '../../engine/node/network.js';
import { UnrecordedNetwork } from '../../engine/node/unrecorded-network.js';
import { StoreError } from '../../engine/store/store.js';
import { AskingEnded, CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { DeciderOptions, Deciders } from '../agents/deciders/deciders.js';
import { Auditor } from '../audit/auditor.js';
import { collectLabels } from '../elections/rule-ballots.js';
import { Collector } from '../measure/collector.js';
import type { DecisionLine } from '../measure/decisions.js';
import type { Row } from '../measure/dictionary.js';
import type { RunResults } from '../measure/results.js';
import { assertModule } from '../scenario/complete.js';
import { listExternals } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Neighbours } from '../world/graph.js';
import { LocalWorld, Quotas } from '../world/local-world.js';
import { type Assembly, assemble } from './assembly.js';
import { Ending, type Progress } from './ending.js';
import {
  type FaultHooks,
  type SimHooks,
  type SimOptions,
  START_MS,
  toGenesisOptions,
} from './options.js';
import {
  collectReports,
  createResult,
  type EndedBy,
  getNetworkFigures,
  type SimResult,
} from './result.js';

/**
 * Thrown when a run is aborted. Entries up to `seq` are durable, in `out/network` if `out` was
 * given.
 */
export class Interrupted extends Error {
  override name = 'Interrupted';
  /**
   * @param seq last durable entry.
   *
   * @internal
   */
  constructor(readonly seq: number) {
    super(`run interrupted after entry ${seq}`);
  }
}

/**
 * Runs a scenario in virtual time. A scenario and seed always give the same log, byte for byte,
 * with any verifier.
 *
 * @throws {TypeError} if `log` is `none` and an option or hook needs a log.
 * @throws {ScenarioError} if a script cannot be loaded, throws, or returns an invalid command.
 * @throws {StoreError} if the store or the results cannot be written, or a cassette is invalid.
 * @throws {DeciderError} if a question stays unanswered or the call budget is spent.
 * @throws {Interrupted} on `signal`.
 *
 * @example
 * ```ts
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * const first = await simulate(scenario, { seed: '7', store: 'memory' });
 * const again = await simulate(scenario, { seed: '7', verifier: 'inline' });
 * console.log(first.verdict, first.digest === again.digest); // pass true
 * ```
 */
export function simulate(
  scenario: Scenario,
  options: SimOptions = {},
  hooks: SimHooks = {},
): Promise<SimResult> {
  return simulateWithFaults(scenario, options, hooks);
}

/** Like {@link simulate}, but changes requests in flight to test that such changes are detected. */
export async function simulateWithFaults(
  scenario: Scenario,
  options: SimOptions,
  hooks: FaultHooks,
): Promise<SimResult> {
  const started = performance.now();
  assertLogOptions(options, hooks);
  await assertModule(scenario);
  const { deciders, hooks: heard } = await openDeciders(scenario, options, hooks);
  try {
    return await runWithLogOrNot({ scenario, options, hooks: heard, deciders, started });
  } finally {
    await deciders?.close();
  }
}

async function runWithLogOrNot(wanted: Omit<RunOptions, 'path'>): Promise<SimResult> {
  const { out, store, log } = wanted.options;
  if (log === 'none') return runUnrecorded(wanted);
  if (out !== undefined) return run({ ...wanted, path: join(out, 'network') });
  if (store === 'memory') return run({ ...wanted, path: null });
  const folder = await temporaryFolder();
  try {
    return await run({ ...wanted, path: join(folder, 'network') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Number of signatures whose verification in this thread takes as long as starting two threads. */
const THREADS_AFTER = 2_000;

interface RunOptions {
  scenario: Scenario;
  options: SimOptions;
  hooks: FaultHooks;
  deciders: Deciders | null;
  /** Start time from performance.now(). */
  started: number;
  /** Network folder; null for a network in memory. */
  path: string | null;
}

/** Runs without a log. */
async function runUnrecorded(wanted: Omit<RunOptions, 'path'>): Promise<SimResult> {
  const { scenario, options } = wanted;
  const clock = virtualClock(START_MS);
  const network = await UnrecordedNetwork.open({
    genesis: toGenesisOptions(scenario),
    clock,
    inRounds: scenario.signatures === 'verified',
  });
  const seed = options.seed ?? scenario.seed;
  return runOn(network, { ...wanted, seed, clock, kind: 'off', verified: () => 0 });
}

/** @throws {TypeError} if an option or a hook of a run without a log needs a log. */
function assertLogOptions(
  { log, out, store, verifier }: SimOptions,
  { onNetwork, inTransit }: FaultHooks,
): void {
  if (log !== 'none') return;
  const given = { out, store, verifier, onNetwork, inTransit };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    throw new TypeError(`${name} needs a log; omit ${name}, or run with log: 'full'`);
  }
}

async function run(wanted: RunOptions): Promise<SimResult> {
  const { scenario, options, hooks, path } = wanted;
  const kind = scenario.signatures === 'verified' ? (options.verifier ?? 'pool') : 'off';
  const verifier = createVerifier(kind, { threadsAfter: THREADS_AFTER });
  let fatal: Error | undefined;
  try {
    const clock = virtualClock(START_MS);
    // Loaded only for runs with a log, because LMDB takes longer to load than a small run.
    const { Network } = await import('../../engine/node/network.js');
    const network = await Network.open({
      // Observers read entries and events.
      ...(path === null ? { memory: hooks.onNetwork ? true : ('state' as const) } : { path }),
      genesis: toGenesisOptions(scenario),
      verifier,
      clock,
      onFatal: (error) => {
        fatal = error;
      },
    });
    let leave: (() => Promise<void>) | undefined;
    try {
      leave = await hooks.onNetwork?.(network);
      const seed = options.seed ?? scenario.seed;
      const verified = () => verifier.stats.verified;
      return await runOn(network, { ...wanted, seed, clock, kind, verified });
    } finally {
      await leave?.();
      // A failed commit has already been reported as the cause.
      await network.close().catch(() => {});
    }
  } catch (error) {
    throw fatal ?? error;
  } finally {
    await verifier.close();
  }
}

interface StartedRunOptions extends Omit<RunOptions, 'path'> {
  seed: string;
  clock: VirtualClock;
  kind: VerifierKind;
  /** Returns the number of verified signatures. */
  verified(): number;
}

type RunNetwork = Network | UnrecordedNetwork;

async function runOn(network: RunNetwork, running: StartedRunOptions): Promise<SimResult> {
  const { scenario, options } = running;
  return recordRun(options.out, scenario, async (keeper) => {
    const assembly = await assembleOn(network, running, keeper);
    try {
      return await runAssembled(network, running, assembly, keeper);
    } finally {
      assembly.scripts?.close();
    }
  });
}

async function runAssembled(
  network: RunNetwork,
  running: StartedRunOptions,
  {
    world,
    observer: collector,
    settledAt,
    scripts,
    files,
    elections,
    neighbours,
    graph,
    interventions,
  }: Assembly<LocalWorld, Collector>,
  keeper: RunRecorder,
): Promise<SimResult> {
  const { scenario, hooks, deciders } = running;
  const { watch } = running.options;
  if (watch !== undefined) collector.watched = { hash: watch, status: null, alliances: null };
  const ending = new Ending(scenario, collector, settledAt, START_MS);
  collector.labels = collectLabels(elections);
  hooks.onGraph?.(graph);
  interventions?.begin(world, collector, () => network.applied);
  const ended_by = await runToEnd(network, hooks, { world, ending, interventions });
  await network.durable;
  world.finish();
  await hooks.onOver?.();
  const finished = collector.finish(network.read, world.now);
  const end = {
    seed: running.seed,
    scenario,
    modules: scripts?.modules ?? {},
    ...(deciders ? { deciders: deciders.figures } : {}),
    files: { ...files, ...deciders?.files },
    elections,
    acted: interventions?.acted ?? null,
    verdict: world.broken ? ('safety' as const) : ending.verdict(world.now),
    ended_by,
    broken: world.broken,
    watched: collector.watched?.status,
    watched_alliances: collector.watched?.alliances,
    refusals: world.refusals,
    finished,
    reported: collectReports(scripts, world, finished),
    startMs: START_MS,
    endMs: world.now,
    traceDigest: world.traceDigest,
    wallMs: performance.now() - running.started,
    made: hooks.made,
  };
  const result = createResult(end, getNetworkFigures(network, running));
  await deciders?.finish();
  await keeper.keep(result, finished, neighbours);
  return result;
}

interface Going extends Pick<Assembly<LocalWorld, Collector>, 'world' | 'interventions'> {
  ending: Ending;
}

async function runToEnd(
  network: RunNetwork,
  hooks: SimHooks,
  { world, ending, interventions }: Going,
): Promise<EndedBy> {
  for (;;) {
    if (world.broken) return 'safety';
    const ended = ending.reached(world.now);
    if (ended !== null) return ended;
    if (hooks.signal?.aborted) {
      await network.durable;
      throw new Interrupted(network.read.position.seq);
    }
    const waits = hooks.pace?.(world.now);
    if (waits) {
      await waits;
      if (hooks.signal?.aborted) continue;
    }
    interventions?.actAfterWindow();
    let goes: boolean;
    try {
      goes = await world.step(ending.horizon, interventions?.looksAt);
    } catch (error) {
      goes = ignoreEnded(error);
    }
    if (!goes && !world.broken) return 'nothing_due';
    if (hooks.onProgress) ending.report(world.now, () => network.read.position, hooks.onProgress);
  }
}

function assembleOn(
  network: RunNetwork,
  running: StartedRunOptions,
  { onRow, onDecision: onLine = running.hooks.onDecision }: RunRecorder,
) {
  const { scenario, options, hooks, clock, seed } = running;
  const { genesis } = network;
  return assemble({
    scenario,
    seed,
    folder: options.folder,
    scriptMs: options.scriptMs,
    modules: options.modules,
    deciders: running.deciders,
    recorded: options.log !== 'none',
    // A fault in transit changes the bytes of requests.
    sendsCommands: hooks.inTransit === undefined,
    networkId: genesis.network_id,
    genesis,
    seq: 0,
    startMs: () => START_MS,
    observerOf: (agents, startMs) => new Collector(scenario, agents, startMs, onRow, onLine),
    worldOf: (society) =>
      new LocalWorld({
        ...society,
        network,
        clock,
        quotas:
          scenario.limits === 'off'
            ? null
            : new Quotas(scenario.limits, clock.now, network.reputationOf),
        watch: options.audit === false ? null : new Auditor(genesis),
        ...(hooks.inTransit ? { inTransit: hooks.inTransit } : {}),
      }),
  });
}

interface Options {
  seed?: string;
  out?: string;
  folder?: string;
  deciders?: DeciderOptions;
}

interface Hooks {
  onProgress?: (progress: Progress) => void;
  onNote?: (note: string) => void;
  signal?: AbortSignal;
}

interface OpenedDeciders<H> {
  deciders: Deciders | null;
  /** Hooks that report decider calls as progress too. */
  hooks: H;
}

/**
 * Prepares the run's folder and opens its cassettes.
 * @throws {ScenarioError} if deciders cannot be asked. @throws {StoreError} for problems with the
 * folder or a cassette.
 */
async function openDeciders<H extends Hooks>(
  scenario: Scenario,
  { out, folder, seed = scenario.seed, deciders: wanted = {} }: Options,
  hooks: H,
): Promise<OpenedDeciders<H>> {
  const keep = wanted.keep ?? (out === undefined ? undefined : join(out, CASSETTE_FILE));
  const goesOn = out !== undefined && wanted.record === true && isUnfinished(out);
  if (goesOn) await assertNoWriter(out);
  else await prepareRunFolder(out);
  const heard = countCalls(hooks);
  const options = { ...wanted, ...(keep === undefined ? {} : { keep }), seed, folder };
  const { signal, onNote } = hooks;
  const deciders = hasDeciders(scenario, wanted, onNote)
    ? await (await loaded()).open(scenario, options, { signal, onNote, onCall: heard.onCall })
    : null;
  if (goesOn) await prepareRunFolder(out, true);
  return { deciders, hooks: deciders ? heard.hooks : hooks };
}

/** Loads the module, which only scenarios with deciders need. */
const loaded = async () => (await import('../agents/deciders/deciders.js')).Deciders;

/** Returns true if the scenario uses deciders. If not, notes that a named cassette is unused. */
function hasDeciders(
  scenario: Scenario,
  { cassette, record }: DeciderOptions,
  onNote: Hooks['onNote'],
): boolean {
  if (listExternals(scenario).length > 0) return true;
  if (record || cassette !== undefined) onNote?.(deciderOptionsUnused);
  return false;
}

export const deciderOptionsUnused =
  'no external deciders in this scenario; --record and --cassette have no effect';

/** Returns true if the folder contains recorded answers but no result. */
const isUnfinished = (out: string): boolean =>
  existsSync(join(out, CASSETTE_FILE)) && !existsSync(join(out, 'summary.json'));

/** @throws {StoreError} `LOCKED` while a different process writes the run. */
async function assertNoWriter(out: string): Promise<void> {
  const network = join(out, 'network');
  if (!existsSync(network)) return;
  const { lockFolder } = await import('../../engine/store/folder.js');
  lockFolder(network)();
}

/** Treats an abort during a question like an abort at any other time: the run ends. */
function ignoreEnded(error: unknown): true {
  if (error instanceof AskingEnded) return true;
  throw error;
}

/** Reports each call as progress, in addition to blocks. */
function countCalls<H extends Hooks>(hooks: H): { hooks: H; onCall(made: number): void } {
  const { onProgress } = hooks;
  if (!onProgress) return { hooks, onCall: () => {} };
  let calls = 0;
  let last: Progress = { done: 0, closed: 0, votes: 0, virtualMs: 0, seq: 0, digest: '' };
  const tell = () => onProgress({ ...last, calls });
  return {
    hooks: {
      ...hooks,
      onProgress(progress: Progress) {
        last = progress;
        tell();
      },
    },
    onCall(made) {
      calls = made;
      tell();
    },
  };
}

/** Saves a run in its folder. The module that writes files is loaded only if needed. */
export interface RunRecorder {
  /** Receives rows of votes.csv. Absent if these rows are not saved. */
  onRow?: (row: Row<'votes.csv'>) => void;
  /** Receives lines of decisions.ndjson. Absent if these lines are not saved. */
  onDecision?: (line: DecisionLine) => void;
  /**
   * Saves the result. Call this at the end. The network must be open, because rows are read on
   * demand.
   */
  keep(result: SimResult, finished: RunResults, neighbours: Neighbours): Promise<void>;
}

/** Loads the module, which is needed only to save a run. */
const output = () => import('./output.js');

/**
 * @param goesOn true if the folder contains an interrupted run to continue.
 * @throws {StoreError} if the folder is not usable or contains a run.
 */
export async function prepareRunFolder(folder: string | undefined, goesOn = false): Promise<void> {
  if (folder !== undefined) await (await output()).prepareOutput(folder, goesOn);
}

/** Records a run. Deletes partial tables if the run fails. */
export async function recordRun<T>(
  folder: string | undefined,
  scenario: Scenario,
  run: (keeper: RunRecorder) => Promise<T>,
): Promise<T> {
  if (folder === undefined) return run({ keep: async () => {} });
  const { openTables, writeResult } = await output();
  const { finish, abandon, ...takers } = openTables(folder, scenario);
  try {
    return await run({
      ...takers,
      async keep(result, finished, neighbours) {
        finish();
        await writeResult(folder, result, finished, neighbours);
      },
    });
  } catch (error) {
    abandon();
    throw error;
  }
}

/** Creates a folder for a run that will not be saved. @throws {StoreError} `UNREADABLE` */
async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'folkmoot-sim-'));
  } catch (cause) {
    throw new StoreError('NO_TEMPORARY_FOLDER', { reason: (cause as Error).message }, { cause });
  }
}
