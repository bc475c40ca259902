/** One run of a scenario: its agents on a network in virtual time, until its length is reached. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createVerifier,
  Network,
  type Verifier,
  type VerifierKind,
  type VirtualClock,
  virtualClock,
} from '../../engine/internal.js';
import type { Deciders } from '../agents/deciders/index.js';
import { Auditor } from '../audit/index.js';
import { Collector } from '../measure/index.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Quotas } from '../world/virtual/quotas.js';
import { LocalWorld } from '../world/virtual/world.js';
import { type Assembly, assemble } from './assemble.js';
import { openDeciders, unlessEnded } from './deciders.js';
import { Ending } from './ending/ending.js';
import { genesisOf } from './genesis.js';
import { type Keeper, keeping, temporaryFolder } from './keep.js';
import { type FaultHooks, type SimHooks, type SimOptions, START_MS } from './options.js';
import { reportedOf } from './reported.js';
import type { EndedBy, SimResult } from './result.js';
import { figuresOf, resultOf } from './summary.js';

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

/** Two threads take as long to start as this many signatures to be checked in this one. */
const THREADS_AFTER = 2_000;

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
  const { scenario, options, hooks, path } = wanted;
  const kind = scenario.signatures === 'verified' ? (options.verifier ?? 'pool') : 'off';
  const verifier = createVerifier(kind, { threadsAfter: THREADS_AFTER });
  let fatal: Error | undefined;
  try {
    const clock = virtualClock(START_MS);
    const network = await Network.open({
      // Who looks reads entries and events too.
      ...(path === null ? { memory: hooks.onNetwork ? true : ('state' as const) } : { path }),
      genesis: genesisOf(scenario),
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
      return await runOn(network, { ...wanted, seed, clock, verifier, kind });
    } finally {
      await leave?.();
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
    graph,
    interventions,
  }: Assembly<LocalWorld, Collector>,
  keeper: Keeper,
): Promise<SimResult> {
  const { scenario, hooks, deciders } = running;
  const { watch } = running.options;
  if (watch !== undefined) collector.watched = { hash: watch, status: null, alliances: null };
  const ending = new Ending(scenario, collector, settledAt, START_MS);
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
    acted: interventions?.acted ?? null,
    verdict: world.broken ? ('safety' as const) : ending.verdict(world.now),
    ended_by,
    broken: world.broken,
    watched: collector.watched?.status,
    watched_alliances: collector.watched?.alliances,
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
      goes = unlessEnded(error);
    }
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
