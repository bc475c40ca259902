/**
 * Runs a scenario in virtual time until its length is reached. Opens external deciders and the
 * output folder first, if the scenario and options require them.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier, type VerifierKind } from '../../engine/crypto/pool.js';
import { AheadSigner } from '../../engine/crypto/signer.js';
import { virtualClock } from '../../engine/node/clock.js';
import type { Network } from '../../engine/node/network.js';
import { UnrecordedNetwork } from '../../engine/node/unrecorded-network.js';
import { storeError } from '../../engine/store/messages.js';
import { AskingEnded, CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { Deciders } from '../agents/deciders/deciders.js';
import { Auditor } from '../audit/auditor.js';
import { collectLabels } from '../elections/rule-ballots.js';
import { Collector } from '../measure/collector.js';
import { assertModule } from '../scenario/complete.js';
import { listExternals } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
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
import type { Tables } from './output.js';
import { createResult, type EndedBy, getNetworkFigures, type SimResult } from './result.js';

/** Thrown if a run is aborted. Entries up to `seq` are durable, in `out/network` if given. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  /** @param seq last durable entry. @internal */
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
  assertLogOptions(options, hooks);
  await assertModule(scenario);
  const run = new Run(scenario, options, hooks);
  try {
    const network = await run.open();
    const society = await run.assemble(network);
    const end = await run.advance(network, society);
    return await run.record(network, society, end);
  } catch (error) {
    throw run.fatal ?? error;
  } finally {
    await run.close();
  }
}

/** @throws {TypeError} if an option or a hook of a run without a log needs a log. */
function assertLogOptions(
  { log, out, store, verifier, verifyThreads }: SimOptions,
  { onNetwork, inTransit }: FaultHooks,
): void {
  if (log !== 'none') return;
  const given = { out, store, verifier, verifyThreads, onNetwork, inTransit };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    throw new TypeError(`${name} needs a log; omit ${name}, or run with log: 'full'`);
  }
}

/** Number of signatures whose verification takes twice as long as starting a thread. */
const THREADS_AFTER = 2_000;
/** Number of votes that are signed in about the same time. */
const SIGNER_AFTER = 4_000;

type RunNetwork = Network | UnrecordedNetwork;
type LocalSociety = Assembly<LocalWorld, Collector>;
type End = Pick<SimResult, 'ended_by' | 'verdict'>;

/** One run in virtual time. Each step returns what the next step needs. */
class Run {
  readonly #started = performance.now();
  readonly #scenario: Scenario;
  readonly #options: SimOptions;
  readonly #seed: string;
  readonly #clock = virtualClock(START_MS);
  /** Closes what is open, last first. */
  readonly #closers: (() => unknown)[] = [];
  #hooks: FaultHooks;
  #deciders: Deciders | null = null;
  #tables: Tables | null = null;
  /** Set in a run whose votes are signed and whose verifier uses threads. */
  #signer: AheadSigner | undefined;
  #verifier: { kind: VerifierKind; verified: () => number } = { kind: 'off', verified: () => 0 };
  /** Failure of the network, which is the cause of what failed after it. */
  fatal: Error | undefined;

  constructor(scenario: Scenario, options: SimOptions, hooks: FaultHooks) {
    this.#scenario = scenario;
    this.#options = options;
    this.#seed = options.seed ?? scenario.seed;
    this.#hooks = hooks;
  }

  async open(): Promise<RunNetwork> {
    const opened = await openDeciders(this.#scenario, this.#options, this.#hooks);
    this.#hooks = opened.hooks;
    this.#deciders = opened.deciders;
    this.#closers.push(() => this.#deciders?.close());
    const network =
      this.#options.log === 'none' ? await this.#openUnrecorded() : await this.#openRecorded();
    const { out } = this.#options;
    if (out !== undefined) {
      this.#tables = (await output()).openTables(out, this.#scenario);
      this.#closers.push(() => this.#tables?.abandon());
    }
    return network;
  }

  #openUnrecorded(): Promise<UnrecordedNetwork> {
    return UnrecordedNetwork.open({
      genesis: toGenesisOptions(this.#scenario),
      clock: this.#clock,
      inRounds: this.#scenario.signatures === 'verified',
      answered: this.#options.audit !== false,
    });
  }

  async #openRecorded(): Promise<Network> {
    const path = await this.#findNetworkFolder();
    const { onNetwork } = this.#hooks;
    const kind =
      this.#scenario.signatures === 'verified' ? (this.#options.verifier ?? 'pool') : 'off';
    const { verifyThreads } = this.#options;
    const threads = verifyThreads === undefined ? {} : { threads: verifyThreads };
    const verifier = createVerifier(kind, { threadsAfter: THREADS_AFTER, ...threads });
    this.#closers.push(() => verifier.close());
    this.#verifier = { kind, verified: () => verifier.stats.verified };
    if (kind === 'pool' && availableParallelism() > 1) {
      const signer = new AheadSigner(SIGNER_AFTER);
      this.#closers.push(() => signer.close());
      this.#signer = signer;
    }
    // Loaded only for runs with a log, because LMDB takes longer to load than a small run.
    const { Network } = await import('../../engine/node/network.js');
    const network = await Network.open({
      // Observers read entries and events.
      ...(path === null ? { memory: onNetwork ? true : ('state' as const) } : { path }),
      genesis: toGenesisOptions(this.#scenario),
      verifier,
      clock: this.#clock,
      onFatal: (error) => {
        this.fatal = error;
      },
    });
    // A failed commit has already been reported as the cause.
    this.#closers.push(() => network.close().catch(() => {}));
    const leave = await onNetwork?.(network);
    if (leave) this.#closers.push(leave);
    return network;
  }

  /** Returns the network's folder, which is temporary without `out`; null for one in memory. */
  async #findNetworkFolder(): Promise<string | null> {
    const { out, store } = this.#options;
    if (out !== undefined) return join(out, 'network');
    if (store === 'memory') return null;
    const folder = await makeTemporaryFolder();
    this.#closers.push(() => rm(folder, { recursive: true, force: true }));
    return join(folder, 'network');
  }

  async assemble(network: RunNetwork): Promise<LocalSociety> {
    const { folder, scriptMs, modules, audit, log, watch } = this.#options;
    const scenario = this.#scenario;
    const { inTransit, onDecision = this.#tables?.onDecision, onGraph } = this.#hooks;
    const { genesis } = network;
    const clock = this.#clock;
    const society = await assemble({
      scenario,
      seed: this.#seed,
      folder,
      scriptMs,
      modules,
      deciders: this.#deciders,
      recorded: log !== 'none',
      // A fault in transit changes the bytes of requests.
      sendsCommands: inTransit === undefined,
      networkId: genesis.network_id,
      genesis,
      seq: 0,
      startMs: () => START_MS,
      observerOf: (agents, startMs, ordinals) =>
        new Collector(scenario, agents, startMs, {
          onRow: this.#tables?.onRow,
          onDecision,
          ordinals,
        }),
      worldOf: (options) =>
        new LocalWorld({
          ...options,
          network,
          clock,
          quotas:
            scenario.limits === 'off'
              ? null
              : new Quotas(scenario.limits, clock.now, network.reputationOf),
          ...(this.#signer ? { signer: this.#signer } : {}),
          watch: audit === false ? null : new Auditor(genesis),
          ...(inTransit ? { inTransit } : {}),
        }),
    });
    this.#closers.push(() => society.scripts?.close());
    const { observer: collector, elections, graph } = society;
    if (watch !== undefined) collector.watched = { hash: watch, status: null, alliances: null };
    collector.labels = collectLabels(elections);
    onGraph?.(graph, collector.labels);
    return society;
  }

  /** Steps the world until the run ends. @throws {Interrupted} on the signal. */
  async advance(network: RunNetwork, society: LocalSociety): Promise<End> {
    const { world, observer, interventions, settledAt } = society;
    const { signal, pace, onProgress } = this.#hooks;
    const ending = new Ending(this.#scenario, observer, settledAt, START_MS);
    interventions?.begin(world, observer, () => network.applied);
    const end = (ended_by: EndedBy) => ({ ended_by, verdict: ending.verdict(world.now) });
    for (;;) {
      if (world.broken) return end('safety');
      const ended = ending.reached(world.now);
      if (ended !== null) return end(ended);
      if (signal?.aborted) {
        await network.durable;
        throw new Interrupted(network.read.position.seq);
      }
      const waits = pace?.(world.now);
      if (waits) {
        await waits;
        if (signal?.aborted) continue;
      }
      interventions?.actAfterWindow();
      const stepped = world.step(ending.horizon, interventions?.looksAt);
      const goes = typeof stepped === 'boolean' ? stepped : await stepped.catch(ignoreEnded);
      if (!goes && !world.broken) return end('nothing_due');
      if (onProgress) ending.report(world.now, () => network.read.position, onProgress);
    }
  }

  async record(network: RunNetwork, society: LocalSociety, end: End): Promise<SimResult> {
    const { world, observer: collector, neighbours } = society;
    const deciders = this.#deciders;
    await network.durable;
    world.finish();
    await this.#hooks.onOver?.();
    const finished = collector.finish(network.read, world.now);
    const result = createResult(
      {
        ...society,
        seed: this.#seed,
        scenario: this.#scenario,
        deciders,
        ...end,
        ...(world.broken ? { verdict: 'safety' as const } : {}),
        watched: collector.watched,
        finished,
        endMs: world.now,
        started: this.#started,
        made: this.#hooks.made,
      },
      getNetworkFigures(network, this.#verifier),
    );
    await deciders?.finish();
    const { out } = this.#options;
    if (out !== undefined && this.#tables) {
      this.#tables.finish();
      await (await output()).writeResult(out, result, finished, neighbours);
    }
    return result;
  }

  /** Closes everything, also after a failure. @throws the first failure to close. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * Prepares the run's folder and opens its cassettes. The returned hooks report decider calls as
 * progress too.
 * @throws {ScenarioError} if deciders cannot be asked. @throws {StoreError} for problems with the
 * folder or a cassette.
 */
async function openDeciders(
  scenario: Scenario,
  { out, folder, seed = scenario.seed, deciders: wanted = {} }: SimOptions,
  hooks: FaultHooks,
): Promise<{ deciders: Deciders | null; hooks: FaultHooks }> {
  const keep = wanted.keep ?? (out === undefined ? undefined : join(out, CASSETTE_FILE));
  const goesOn = out !== undefined && wanted.record === true && isUnfinished(out);
  if (goesOn) await assertNoWriter(out);
  else if (out !== undefined) await (await output()).prepareOutput(out);
  const heard = countCalls(hooks);
  const options = { ...wanted, ...(keep === undefined ? {} : { keep }), seed, folder };
  const { signal, onNote } = hooks;
  const areUsed = listExternals(scenario).length > 0;
  const isNamed = wanted.record || wanted.cassette !== undefined;
  if (!areUsed && isNamed) onNote?.(deciderOptionsUnused);
  const deciders = areUsed
    ? await (await loaded()).open(scenario, options, { signal, onNote, onCall: heard.onCall })
    : null;
  if (goesOn) await (await output()).prepareOutput(out, true);
  return { deciders, hooks: deciders ? heard.hooks : hooks };
}

/** Loads the module, which only scenarios with deciders need. */
const loaded = async () => (await import('../agents/deciders/deciders.js')).Deciders;

export const deciderOptionsUnused =
  'no external deciders in this scenario; --record and --cassette have no effect';

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
function countCalls(hooks: FaultHooks): { hooks: FaultHooks; onCall(made: number): void } {
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

/** Loads the module, which only runs that are saved need. */
const output = () => import('./output.js');

/** Creates a folder for a run that will not be saved. @throws {StoreError} `UNREADABLE` */
async function makeTemporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'folkmoot-sim-'));
  } catch (cause) {
    throw storeError('NO_TEMPORARY_FOLDER', { reason: (cause as Error).message }, { cause });
  }
}
