/** One run of a scenario: its agents on a network in virtual time, until its length is reached. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createVerifier,
  Network,
  type SignedRequest,
  StoreError,
  type Verifier,
  type VerifierKind,
  type VirtualClock,
  virtualClock,
} from '../../engine/internal.js';
import { agentId } from '../../engine/protocol/signing.js';
import type { Provenance } from '../../report/provenance.js';
import { Auditor } from '../audit/index.js';
import { Collector } from '../measure/collector.js';
import { mix, Streams } from '../rng.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Faults } from '../world/links/faults.js';
import { graphOf } from '../world/links/graph.js';
import { Links } from '../world/links/links.js';
import { Quotas } from '../world/virtual/quotas.js';
import { LocalWorld } from '../world/virtual/world.js';
import { begin, castOf, measured } from './cast.js';
import { Ending, type Progress } from './ending.js';
import { genesisOf } from './genesis.js';
import type { Tables } from './output.js';
import type { SimResult } from './result.js';

/** 2025-01-01T00:00:00Z: a run begins at the same instant whenever it runs. */
const START_MS = 1_735_689_600_000;

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
}

export interface SimHooks {
  /** Called when more blocks have closed; what it shows is durable. */
  onProgress?: (progress: Progress) => void;
  /** Changes requests on their way: faults for tests. */
  inTransit?: (request: SignedRequest) => SignedRequest;
  /** Ends the run early, with `Interrupted`. */
  signal?: AbortSignal;
  /** What made the run: kept with its result. */
  made?: Provenance;
}

/** A run was ended early. Entries up to `seq` are durable, in `out/network` if `out` was given. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  constructor(readonly seq: number) {
    super(`the run was interrupted after entry ${seq}`);
  }
}

/**
 * Runs a scenario. The same scenario and seed give the same bytes, whatever verifier checks them.
 * @throws {ScenarioError} when a script cannot be loaded, throws or gives what is no command.
 * @throws {StoreError} when the store or the results cannot be written.
 * @throws {Interrupted} when `signal` ended it.
 */
export async function simulate(
  scenario: Scenario,
  options: SimOptions = {},
  hooks: SimHooks = {},
): Promise<SimResult> {
  const started = performance.now();
  const { out } = options;
  if (out !== undefined) {
    const { prepareOutput } = await tableWriter();
    await prepareOutput(out);
    return run({ scenario, options, hooks, started, path: join(out, 'network') });
  }
  if (options.store === 'memory') return run({ scenario, options, hooks, started, path: null });
  const folder = await temporaryFolder();
  try {
    return await run({ scenario, options, hooks, started, path: join(folder, 'network') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Loaded where something is kept. */
const tableWriter = () => import('./output.js');

/** @throws {StoreError} `UNREADABLE` */
async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'folkmoot-sim-'));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `no temporary folder can be made: ${why}`, { cause });
  }
}

interface Wanted {
  scenario: Scenario;
  options: SimOptions;
  hooks: SimHooks;
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
      return await runOn(network, { ...wanted, clock, verifier, kind });
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
  clock: VirtualClock;
  verifier: Verifier;
  kind: VerifierKind;
}

async function runOn(network: Network, running: Running): Promise<SimResult> {
  const { out } = running.options;
  const tables = out === undefined ? null : (await tableWriter()).openTables(out, running.scenario);
  try {
    return await runWith(network, running, tables);
  } catch (error) {
    tables?.abandon();
    throw error;
  }
}

async function runWith(
  network: Network,
  running: Running,
  tables: Tables | null,
): Promise<SimResult> {
  const { scenario, options, hooks } = running;
  const seed = options.seed ?? scenario.seed;
  const { agents, modules } = await castOf(scenario, seed, options.folder);
  const { world, collector, faults } = worldOf(network, running, agents, seed, tables);
  begin(agents, world, faults, seed);
  const ending = new Ending(scenario, collector, faults, START_MS);
  while (!ending.reached(world.now) && !world.broken) {
    if (hooks.signal?.aborted) {
      await network.durable;
      throw new Interrupted(network.read.position.seq);
    }
    const goes = await world.step();
    if (!goes || ending.stalled(world.now)) break;
    if (hooks.onProgress) ending.tell(world.now, network.read.position, hooks.onProgress);
  }
  await network.durable;
  world.finish();
  const finished = collector.finish(network.read, world.now);
  const result: SimResult = {
    seed,
    scenario,
    modules,
    verifier: running.kind,
    verdict: world.broken ? 'safety' : ending.verdict(world.now),
    broken: world.broken,
    refused: Object.fromEntries([...world.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
    measures: finished.measures,
    ...figures(network, running, collector.counts.votes, world.now),
    ...(hooks.made ?? {}),
  };
  tables?.finish();
  if (options.out !== undefined) {
    await (await tableWriter()).writeResult(options.out, result, finished);
  }
  return result;
}

function worldOf(
  network: Network,
  { scenario, options, hooks, clock }: Running,
  agents: Awaited<ReturnType<typeof castOf>>['agents'],
  seed: string,
  tables: Tables | null,
) {
  const streams = new Streams(seed);
  const seedNumber = mix(streams.of('world', 'latency').int(2 ** 31));
  const faults = new Faults(scenario, seed, START_MS);
  const collector = new Collector(scenario, measured(agents), START_MS, tables?.onRow);
  const world = new LocalWorld({
    scenario,
    networkId: network.genesis.network_id,
    agents,
    neighbours: graphOf(scenario, streams.of('world', 'graph')),
    faults,
    links: new Links(scenario.links, seedNumber, faults),
    seedNumber,
    startMs: START_MS,
    observer: collector,
    network,
    clock,
    quotas: scenario.limits === 'off' ? null : quotasOf(network, scenario.limits, clock),
    watch: options.audit === false ? null : new Auditor(network.genesis),
    ...(hooks.inTransit ? { inTransit: hooks.inTransit } : {}),
  });
  return { world, collector, faults };
}

function quotasOf(network: Network, profile: 'spec', clock: VirtualClock): Quotas {
  const reputationOf = (publicKey: string) =>
    network.read.reputation(agentId(publicKey))?.overall_score ?? 0;
  return new Quotas(profile, clock.now, reputationOf);
}

function figures(network: Network, running: Running, votes: number, now: number) {
  const { seq, event_seq, digest, log_digest } = network.read.position;
  const wallMs = performance.now() - running.started;
  return {
    digest,
    log_digest,
    entries: seq + 1,
    events: event_seq,
    verified: running.verifier.stats.verified,
    commits: network.stats.commits,
    virtual_ms: now - START_MS,
    wall_ms: Math.round(wallMs),
    votes_per_s: Math.round((votes * 1000) / wallMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
  };
}
