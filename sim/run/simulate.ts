/** One run of a scenario: its agents on a network in virtual time, until its length is reached. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createVerifier,
  Network,
  type SignedRequest,
  type Verifier,
  type VerifierKind,
  type VirtualClock,
  virtualClock,
} from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { DeciderOptions, Deciders } from '../agents/deciders/index.js';
import { Auditor } from '../audit/index.js';
import { Collector, type DecisionLine } from '../measure/index.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Quotas } from '../world/virtual/quotas.js';
import { LocalWorld } from '../world/virtual/world.js';
import { type Assembly, assemble } from './assemble.js';
import { openDeciders, unlessEnded } from './deciders.js';
import { Ending, type Progress } from './ending/ending.js';
import { genesisOf } from './genesis.js';
import { type Keeper, keeping, temporaryFolder } from './keep.js';
import { reportedOf } from './reported.js';
import type { EndedBy, SimResult } from './result.js';
import { figuresOf, resultOf } from './summary.js';

/** 2025-01-01T00:00:00Z: a run begins at the same instant whenever it runs. */
const START_MS = 1_735_689_600_000;

/** How a run is made: nothing of it changes what comes out, but seed, folder and deciders. */
export interface SimOptions {
  /** Instead of the scenario's. */
  seed?: string;
  /** Who checks signatures; a scenario whose signatures are not verified takes `off`. */
  verifier?: VerifierKind;
  /** Keeps log, state and tables there. */
  out?: string;
  /** Where script modules are found. */
  folder?: string;
  /** Without `out`: an LMDB that is gone afterwards, or memory. */
  store?: 'lmdb' | 'memory';
  /** Leaves the auditor out. */
  audit?: boolean;
  /** Ends the run when this block has closed: `watched` of the result says how. */
  watch?: string;
  /** What one call of a script may take, in milliseconds of the wall; default: 10 s. */
  scriptMs?: number;
  /** Where the answers of external deciders come from; a scenario that has some needs it. */
  deciders?: DeciderOptions;
}

/** What looks on while a run is made. */
export interface SimHooks {
  /** Called when more blocks have closed; what it shows is durable. */
  onProgress?: (progress: Progress) => void;
  /** What whoever runs it should know, in one line. */
  onNote?: (note: string) => void;
  /** Ends the run early, with `Interrupted`. */
  signal?: AbortSignal;
  /** Called with what each vote that counted rested on. */
  onDecision?: (line: DecisionLine) => void;
  /** What made the run: kept with its result. */
  made?: Provenance;
}

/** The same, and faults for tests. */
export interface FaultHooks extends SimHooks {
  /** Changes requests on their way. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}

/** A run was ended early. Entries up to `seq` are durable, in `out/network` if `out` was given. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  /**
   * @param seq the last entry that is durable.
   *
   * @internal
   */
  constructor(readonly seq: number) {
    super(`the run was interrupted after entry ${seq}`);
  }
}

/**
 * Runs a scenario in virtual time. The same scenario and seed give the same bytes, whatever
 * verifier checks them.
 *
 * @throws {ScenarioError} when a script cannot be loaded, throws or gives what is no command.
 * @throws {StoreError} when the store or the results cannot be written, or about a cassette.
 * @throws {DeciderError} when a question has no answer and nobody may be asked, or no more.
 * @throws {Interrupted} when `signal` ended it.
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

/** As {@link simulate}, with requests that are changed on their way: a test of what notices it. */
export async function simulateWithFaults(
  scenario: Scenario,
  options: SimOptions,
  hooks: FaultHooks,
): Promise<SimResult> {
  const started = performance.now();
  const { deciders, hooks: heard } = await openDeciders(scenario, options, hooks);
  try {
    return await runSomewhere({ scenario, options, hooks: heard, deciders, started });
  } finally {
    await deciders?.close();
  }
}

async function runSomewhere(wanted: Omit<Wanted, 'path'>): Promise<SimResult> {
  const { out, store } = wanted.options;
  if (out !== undefined) return run({ ...wanted, path: join(out, 'network') });
  if (store === 'memory') return run({ ...wanted, path: null });
  const folder = await temporaryFolder();
  try {
    return await run({ ...wanted, path: join(folder, 'network') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Wanted {
  scenario: Scenario;
  options: SimOptions;
  hooks: FaultHooks;
  deciders: Deciders | null;
  /** By performance.now(). */
  started: number;
  /** The network's folder; null for memory. */
  path: string | null;
}

async function run(wanted: Wanted): Promise<SimResult> {
  const { scenario, options, path } = wanted;
  const kind = scenario.signatures === 'verified' ? (options.verifier ?? 'pool') : 'off';
  const verifier = createVerifier(kind);
  let fatal: Error | undefined;
  try {
    const clock = virtualClock(START_MS);
    const network = await Network.open({
      ...(path === null ? { memory: 'state' as const } : { path }),
      genesis: genesisOf(scenario),
      verifier,
      clock,
      onFatal: (error) => {
        fatal = error;
      },
    });
    try {
      const seed = options.seed ?? scenario.seed;
      return await runOn(network, { ...wanted, seed, clock, verifier, kind });
    } finally {
      // A commit that failed has been told already, as the cause.
      await network.close().catch(() => {});
    }
  } catch (error) {
    throw fatal ?? error;
  } finally {
    await verifier.close();
  }
}

interface Running extends Wanted {
  seed: string;
  clock: VirtualClock;
  verifier: Verifier;
  kind: VerifierKind;
}

async function runOn(network: Network, running: Running): Promise<SimResult> {
  const { scenario, options } = running;
  return keeping(options.out, scenario, async (keeper) => {
    const assembly = await assembleOn(network, running, keeper);
    try {
      return await runAssembled(network, running, assembly, keeper);
    } finally {
      assembly.scripts?.close();
    }
  });
}

async function runAssembled(
  network: Network,
  running: Running,
  {
    world,
    observer: collector,
    settledAt,
    scripts,
    files,
    neighbours,
    interventions,
  }: Assembly<LocalWorld, Collector>,
  keeper: Keeper,
): Promise<SimResult> {
  const { scenario, hooks, deciders } = running;
  const { watch } = running.options;
  if (watch !== undefined) collector.watched = { hash: watch, status: null };
  const ending = new Ending(scenario, collector, settledAt, START_MS);
  interventions?.begin(world, collector, () => network.applied);
  const ended_by = await runToEnd(network, hooks, { world, ending, interventions });
  await network.durable;
  world.finish();
  const finished = collector.finish(network.read, world.now);
  const end = {
    seed: running.seed,
    scenario,
    modules: scripts?.modules ?? {},
    ...(deciders ? { deciders: deciders.figures } : {}),
    files,
    acted: interventions?.acted ?? null,
    verdict: world.broken ? ('safety' as const) : ending.verdict(world.now),
    ended_by,
    broken: world.broken,
    watched: collector.watched?.status,
    refusals: world.refusals,
    finished,
    reported: reportedOf(scripts, world, finished),
    startMs: START_MS,
    endMs: world.now,
    wallMs: performance.now() - running.started,
    made: hooks.made,
  };
  const result = resultOf(end, figuresOf(network, running));
  await deciders?.finish();
  await keeper.keep(result, finished, neighbours);
  return result;
}

interface Going extends Pick<Assembly<LocalWorld, Collector>, 'world' | 'interventions'> {
  ending: Ending;
}

async function runToEnd(
  network: Network,
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
    interventions?.actAfterWindow();
    const goes = await world.step(ending.horizon).catch(unlessEnded);
    if (!goes && !world.broken) return 'nothing_due';
    if (hooks.onProgress) ending.report(world.now, network.read.position, hooks.onProgress);
  }
}

function assembleOn(
  network: Network,
  running: Running,
  { onRow, onDecision: onLine = running.hooks.onDecision }: Keeper,
) {
  const { scenario, options, hooks, clock, seed } = running;
  const { genesis } = network;
  return assemble({
    scenario,
    seed,
    folder: options.folder,
    scriptMs: options.scriptMs,
    deciders: running.deciders,
    networkId: genesis.network_id,
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
