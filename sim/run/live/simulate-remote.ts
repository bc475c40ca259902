/** One run of a scenario on somebody's server, in wall time, measured as a simulation is. */
import { ApiError, keysFromSeed, type Meta, UnreachableError } from '../../../api/client/index.js';
import { secretOf } from '../../agents/keys.js';
import { Collector } from '../../measure/index.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import { RemoteError } from '../../world/gateway/gateway.js';
import { RemoteGateway } from '../../world/gateway/remote.js';
import type { LiveWorld } from '../../world/live.js';
import type { Assembly } from '../assemble.js';
import { Ending } from '../ending/ending.js';
import { type Keeper, keeping, prepare } from '../keep.js';
import type { SimHooks } from '../options.js';
import { reportedOf } from '../reported.js';
import type { EndedBy, SimResult } from '../result.js';
import { Interrupted } from '../simulate.js';
import { resultOf } from '../summary.js';
import { assembleLive, checkLive, type LiveOptions } from './live-run.js';
import { knownBefore, withdraw } from './participants.js';
import { readsOf } from './reads.js';

/** Which server a scenario is run on, and how. */
export interface RemoteOptions extends LiveOptions {
  /** Of the server. */
  url: string;
  /** Keeps tables and summary there; the log is the server's. */
  out?: string;
}

/** What looks on while a scenario is run on a server. */
export interface RemoteHooks extends Pick<SimHooks, 'onProgress' | 'signal' | 'made'> {
  /** What whoever runs it should know, in one line. */
  onNote?: (note: string) => void;
}

/** Blocks may have been proposed between the first look at the server and the beginning. */
const MARGIN_MS = 60_000;

/**
 * Runs until the scenario's length is reached. Consensus is the server's, in the result too.
 * However it ends, its agents become inactive: others need not wait for them.
 * @throws {ScenarioError} when the scenario, or the server's limits, do not allow it.
 * @throws {RemoteError} when the server cannot be used, or goes away.
 * @throws {Interrupted} when `signal` ended it. @throws {StoreError} when `out` cannot be used.
 */
export async function simulateRemote(
  scenario: Scenario,
  options: RemoteOptions,
  hooks: RemoteHooks = {},
): Promise<SimResult> {
  const { url, out, seed = scenario.seed } = options;
  if (scenario.signatures !== 'verified') {
    const how = `the scenario says signatures: ${scenario.signatures}`;
    throw new ScenarioError(`${how}; a server takes only what is signed: expected verified`);
  }
  checkLive(scenario);
  await prepare(out);
  const keysOf = (agent: number) => keysFromSeed(secretOf(seed, agent));
  const gateway = await RemoteGateway.open({ url, keysOf });
  try {
    checkLimits(url, gateway.meta);
    const served = { ...scenario, consensus: consensusOf(gateway.meta) };
    return await keeping(out, served, (keeper) =>
      runThrough(gateway, { scenario: served, options, hooks, keeper }),
    );
  } finally {
    gateway.close();
  }
}

function checkLimits(url: string, { limits: { profile } }: Meta): void {
  if (profile !== 'spec') return;
  const why = 'lets one address register one agent a minute (limits: spec)';
  throw new ScenarioError(`${url} ${why}; start that server with --limits bench or off`);
}

function consensusOf(meta: Meta): Scenario['consensus'] {
  const { policy, weights, voting_period_ms, min_validators, dormant_after, consistency } = meta;
  const participation = meta.participation_bps / 10_000;
  const dormant_share = meta.dormant_share_max / 10_000;
  const dormancy = { dormant_after, dormant_share, leak_periods: meta.leak_periods };
  return {
    policy,
    weights,
    consistency,
    voting_period_ms,
    min_validators,
    participation,
    ...dormancy,
  };
}

interface Run {
  scenario: Scenario;
  options: RemoteOptions;
  hooks: RemoteHooks;
  keeper: Keeper;
}

async function runThrough(gateway: RemoteGateway, run: Run): Promise<SimResult> {
  const started = performance.now();
  const { scenario, options, hooks, keeper } = run;
  const known = await knownBefore(gateway, options.seed ?? scenario.seed, scenario.population);
  if (known !== null) hooks.onNote?.(known);
  const assembly = await assembleLive(gateway, scenario, options, (agents, startMs) => {
    return new Collector(scenario, agents, startMs, keeper.onRow, keeper.onDecision);
  });
  try {
    return await runToEnd(gateway, run, assembly, started);
  } finally {
    assembly.scripts?.close();
    const stayed = await withdraw(gateway, assembly.agents);
    if (stayed > 0) hooks.onNote?.(`${stayed} agents could not be withdrawn from ${gateway.url}`);
  }
}

async function runToEnd(
  gateway: RemoteGateway,
  run: Run,
  {
    world,
    observer: collector,
    settledAt,
    scripts,
    files,
    neighbours,
  }: Assembly<LiveWorld, Collector>,
  started: number,
): Promise<SimResult> {
  const { scenario, options, hooks, keeper } = run;
  const { startMs } = world;
  const ending = new Ending(hastened(run), collector, settledAt, startMs);
  const end: { by: EndedBy | null } = { by: null };
  await world.run(() => {
    // The log is the server's: there is no digest to name.
    const position = { seq: gateway.seq, digest: '' };
    if (hooks.onProgress) ending.report(world.now, position, hooks.onProgress);
    end.by = ending.reached(world.now);
    return !hooks.signal?.aborted && end.by === null;
  });
  if (end.by === null) throw new Interrupted(gateway.seq);
  const endMs = world.now;
  const verdict = ending.verdict(endMs);
  const wallMs = performance.now() - started;
  const ids = Array.from({ length: scenario.population }, (_, agent) => world.agentId(agent));
  const { reads, meta } = await readEnd(gateway, startMs, ids);
  const finished = collector.finish(reads, endMs);
  const { seed = scenario.seed } = options;
  const { refusals } = world;
  const modules = scripts?.modules ?? {};
  const ended = { verdict, ended_by: end.by, broken: null };
  const reported = reportedOf(scripts, world, finished);
  const about = { seed, scenario, modules, files, ...ended, refusals, finished, reported };
  const result = resultOf(
    { ...about, acted: null, startMs, endMs, wallMs, made: hooks.made },
    figuresOf(gateway, run, meta),
  );
  await keeper.keep(result, finished, neighbours);
  return result;
}

/** What only the server knows is left empty. */
function figuresOf(gateway: RemoteGateway, { options: { url, speed = 1 } }: Run, meta: Meta) {
  return {
    url,
    speed,
    verifier: 'server',
    digest: '',
    log_digest: '',
    entries: meta.seq - gateway.meta.seq,
    events: meta.event_seq - gateway.meta.event_seq,
    verified: 0,
    commits: 0,
  } as const;
}

/** The voting period is of the network's time: in the agents' it is `speed` times as long. */
function hastened({ scenario, options: { speed = 1 } }: Run): Scenario {
  const voting_period_ms = scenario.consensus.voting_period_ms * speed;
  return { ...scenario, consensus: { ...scenario.consensus, voting_period_ms } };
}

async function readEnd({ client, url }: RemoteGateway, startMs: number, agents: readonly string[]) {
  try {
    const reads = await readsOf(client, { sinceMs: startMs - MARGIN_MS, agents });
    return { reads, meta: await client.meta() };
  } catch (cause) {
    const passing = cause instanceof ApiError || cause instanceof UnreachableError;
    if (!passing) throw cause;
    throw new RemoteError(`${url}: the end cannot be read: ${cause.message}`, { cause });
  }
}
