/** One run: a world of scripted agents on a network, until enough blocks have closed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createVerifier,
  type Event,
  type GenesisOptions,
  Network,
  type SignedRequest,
  StoreError,
  type Verifier,
  type VirtualClock,
  virtualClock,
} from '../engine/index.js';
import { type ScriptedAgent, scriptedAgent, takeTurn } from './agents/agent.js';
import { personalityNames } from './agents/personalities.js';
import { smallWorld } from './graph.js';
import { signatoryOf } from './keys.js';
import { LocalWorld } from './local.js';
import { completeOptions, type SimOptions } from './options.js';
import { prepareOutput, writeOutput } from './output.js';
import type { Provenance, SimResult } from './result.js';
import { mix, Streams } from './streams.js';
import { Tally } from './tally.js';

/** 2025-01-01T00:00:00Z: a run begins at the same instant whenever it runs. */
const START_MS = 1_735_689_600_000;
const JOIN_MS = 2_000;
const FIRST_BLOCK_MS = 5_000;
/** Every so manieth agent is a producer too. */
const AGENTS_PER_PRODUCER = 50;
/** Without a finalized block for so many voting periods, a run has no progress. */
const PATIENCE_PERIODS = 20;

export interface Progress {
  closed: number;
  of: number;
  votes: number;
  virtualMs: number;
  /** What is durable at this point. */
  seq: number;
  digest: string;
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
 * Runs a simulation; what `wanted` leaves out has its default. The same options give the same
 * bytes, whatever verifier checks them.
 * @throws {RangeError} when an option is out of bounds.
 * @throws {StoreError} when the store or the results cannot be written.
 * @throws {Interrupted} when `signal` ended it.
 */
export async function simulate(
  wanted: Partial<SimOptions> = {},
  hooks: SimHooks = {},
): Promise<SimResult> {
  const options = completeOptions(wanted);
  if (options.out !== undefined) return runIn(options.out, options, hooks);
  const folder = await temporaryFolder();
  try {
    return await runIn(folder, options, hooks);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runIn(folder: string, options: SimOptions, hooks: SimHooks): Promise<SimResult> {
  const started = performance.now();
  const verifier = createVerifier(options.verifier);
  let fatal: Error | undefined;
  try {
    await prepareOutput(folder);
    const clock = virtualClock(START_MS);
    const { policy, weights } = options;
    const genesis: GenesisOptions = { network_id: 'folkmoot-sim', policy, weights };
    const onFatal = (error: Error) => {
      fatal = error;
    };
    const path = join(folder, 'network');
    const network = await Network.open({ path, genesis, verifier, clock, onFatal });
    try {
      return await runOn(network, clock, options, hooks, started, verifier);
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

async function runOn(
  network: Network,
  clock: VirtualClock,
  options: SimOptions,
  hooks: SimHooks,
  started: number,
  verifier: Verifier,
): Promise<SimResult> {
  const tally = new Tally();
  const world = populate(options, population(options), { network, clock, tally, hooks });
  const outcome = await run(options, world, { network, tally, hooks });
  await network.durable;
  const wallMs = performance.now() - started;
  const measured = { outcome, wallMs, verified: verifier.stats.verified };
  const result = { ...summarize(options, network, world, tally, measured), ...hooks.made };
  if (options.out !== undefined) await writeOutput(options.out, network, result);
  return result;
}

/** @throws {StoreError} `UNREADABLE` */
async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'folkmoot-sim-'));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `no temporary folder can be made: ${why}`, { cause });
  }
}

function population({ seed, agents }: SimOptions): ScriptedAgent[] {
  const streams = new Streams(seed);
  const producers = Math.max(1, Math.floor(agents / AGENTS_PER_PRODUCER));
  const every = Math.floor(agents / producers);
  return Array.from({ length: agents }, (_, ordinal) => {
    const personality = personalityNames[ordinal % personalityNames.length]!;
    const producer = ordinal % every === 0 && ordinal / every < producers;
    return scriptedAgent(ordinal, personality, producer, signatoryOf(seed, ordinal), streams);
  });
}

interface Around {
  network: Network;
  tally: Tally;
  hooks: SimHooks;
}

function populate(
  options: SimOptions,
  agents: ScriptedAgent[],
  { network, clock, tally, hooks }: Around & { clock: VirtualClock },
): LocalWorld {
  const streams = new Streams(options.seed);
  const world = new LocalWorld({
    network,
    clock,
    agents,
    neighbours: smallWorld(agents.length, streams.of('world', 'graph')),
    seedNumber: mix(streams.of('world', 'latency').int(2 ** 31)),
    ...(hooks.inTransit ? { inTransit: hooks.inTransit } : {}),
    onEvent: (event: Event, at: number) => tally.count(event, at),
  });
  const arrival = streams.of('world', 'joining');
  for (const agent of agents) {
    world.wake(agent.ordinal, START_MS + arrival.int(JOIN_MS), { what: 'join' });
    if (!agent.producer) continue;
    takeTurn(agent, world, START_MS + FIRST_BLOCK_MS + world.turnMs(agent));
  }
  return world;
}

async function run(
  options: SimOptions,
  world: LocalWorld,
  { network, tally, hooks }: Around,
): Promise<SimResult['outcome']> {
  const patienceMs = PATIENCE_PERIODS * network.genesis.voting_period_ms;
  let told = 0;
  while (tally.closed < options.blocks) {
    if (hooks.signal?.aborted) {
      await network.durable;
      throw new Interrupted(network.read.position.seq);
    }
    const goes = await world.step();
    if (!goes || world.now - Math.max(START_MS, tally.lastFinalizedAt) > patienceMs) {
      return 'no_progress';
    }
    if (tally.closed === told || !hooks.onProgress) continue;
    told = tally.closed;
    const { seq, digest } = network.read.position;
    const virtualMs = world.now - START_MS;
    hooks.onProgress({
      closed: told,
      of: options.blocks,
      votes: tally.votes,
      virtualMs,
      seq,
      digest,
    });
  }
  return tally.finalized > 0 ? 'pass' : 'no_progress';
}

function summarize(
  options: SimOptions,
  network: Network,
  world: LocalWorld,
  tally: Tally,
  { outcome, wallMs, verified }: Pick<SimResult, 'outcome' | 'verified'> & { wallMs: number },
): SimResult {
  const { out: _, seed, ...shown } = options;
  const { seq, at, event_seq, digest, log_digest } = network.read.position;
  const outcomes = [...world.outcomes].filter(([what]) => what !== 'accepted');
  return {
    seed,
    options: shown,
    outcome,
    digest,
    log_digest,
    blocks: tally.blocks(),
    votes: tally.votes,
    entries: seq + 1,
    events: event_seq,
    verified,
    commits: network.commits,
    transactions: { finalized: tally.transactions },
    refused: Object.fromEntries(outcomes.sort(([a], [b]) => (a < b ? -1 : 1))),
    virtual_ms: at - START_MS,
    wall_ms: Math.round(wallMs),
    votes_per_s: Math.round((tally.votes * 1000) / wallMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
  };
}
