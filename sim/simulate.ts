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
  virtualClock,
} from '../engine/index.js';
import { type ScriptedAgent, scriptedAgent, takeTurn } from './agents/agent.js';
import { personalityNames } from './agents/personalities.js';
import { smallWorld } from './graph.js';
import { signatoryOf } from './keys.js';
import { LocalWorld } from './local.js';
import type { SimOptions } from './options.js';
import { prepareOutput, writeOutput } from './output.js';
import type { SimResult } from './result.js';
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
  /** Called when the share of closed blocks has grown; what it shows is durable. */
  onProgress?: (progress: Progress) => void;
  /** Changes requests on their way: faults for tests. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}

/**
 * Runs a simulation. The same options give the same bytes, whatever verifier checks them.
 * @throws {StoreError} when the store cannot be written.
 */
export async function simulate(options: SimOptions, hooks: SimHooks = {}): Promise<SimResult> {
  const started = performance.now();
  const folder = options.out ?? (await temporaryFolder());
  const verifier = createVerifier(options.verifier);
  let network: Network | undefined;
  try {
    await prepareOutput(folder);
    const clock = virtualClock(START_MS);
    const genesis: GenesisOptions = {
      network_id: 'folkmoot-sim',
      policy: options.policy,
      weights: options.weights,
    };
    const path = join(folder, 'network');
    // What went wrong reaches the run through the next request or commit.
    const onFatal = () => {};
    network = await Network.open({ path, genesis, verifier, clock, onFatal });
    const tally = new Tally();
    const agents = population(options);
    const world = populate(options, agents, { network, clock, tally, hooks });
    const outcome = await run(options, world, { network, tally, hooks });
    await network.durable;
    const wallMs = performance.now() - started;
    const measured = { outcome, wallMs, verified: verifier.stats.verified };
    const result = summarize(options, network, world, tally, measured);
    if (options.out !== undefined) await writeOutput(options.out, network, result);
    await network.close();
    return result;
  } finally {
    // Closed above when all went well; else nothing more can be said of it than the error does.
    await network?.close().catch(() => {});
    await verifier.close();
    if (options.out === undefined) await rm(folder, { recursive: true, force: true });
  }
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
  { network, clock, tally, hooks }: Around & { clock: ReturnType<typeof virtualClock> },
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
