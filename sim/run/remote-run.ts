/**
 * Runs a scenario on a server in wall time and measures the run like a simulation. Some agents may
 * already be registered from an earlier run. All agents become inactive at the end.
 */
import pLimit from 'p-limit';
import {
  ApiError,
  type BlockView,
  keysFromSeed,
  type Meta,
  type NetworkClient,
  UnreachableError,
} from '../../api/client/index.js';
import { composeStatus } from '../../engine/protocol/compose.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { agentId } from '../../engine/protocol/signing.js';
import { deriveSecret, type ScriptedAgent } from '../agents/port.js';
import { collectLabels } from '../elections/rule-ballots.js';
import { Collector } from '../measure/collector.js';
import type { RunReads } from '../measure/results.js';
import { scenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { RemoteGateway, remoteError } from '../world/gateway.js';
import type { LiveWorld } from '../world/live-world.js';
import type { Assembly } from './assembly.js';
import { Ending } from './ending.js';
import { assembleLive, assertLive, type LiveOptions } from './live-run.js';
import type { SimHooks } from './options.js';
import { openTables, prepareOutput, type Tables, writeResult } from './output.js';
import { createResult, type EndedBy, type SimResult } from './result.js';
import { Interrupted } from './simulate.js';

/** Options for a run on a server. */
export interface RemoteOptions extends LiveOptions {
  /** Server URL. */
  url: string;
  /** Folder for the tables and summary. The log stays on the server. */
  out?: string;
}

/** Hooks for a run on a server. */
export type RemoteHooks = Pick<SimHooks, 'onProgress' | 'signal' | 'made' | 'onNote'>;

/** Margin that includes blocks proposed between the first read and the start. */
const MARGIN_MS = 60_000;

/**
 * Runs until the scenario's length is reached. The consensus settings come from the server and
 * appear in the result. All agents become inactive in any case, so that other agents need not wait
 * for their votes.
 * @throws {ScenarioError} if the scenario or the server's limits do not allow the run.
 * @throws {RemoteError} if the server is not usable or is lost.
 * @throws {Interrupted} on `signal`. @throws {StoreError} if `out` is not usable.
 */
export async function simulateRemote(
  scenario: Scenario,
  options: RemoteOptions,
  hooks: RemoteHooks = {},
): Promise<SimResult> {
  const { url, out, seed = scenario.seed } = options;
  if (scenario.signatures !== 'verified') {
    throw scenarioError('UNSIGNED_ON_SERVER', { signatures: scenario.signatures });
  }
  assertLive(scenario);
  if (out !== undefined) await prepareOutput(out);
  const keysOf = (agent: number) => keysFromSeed(deriveSecret(seed, agent));
  const gateway = await RemoteGateway.open({ url, keysOf });
  try {
    assertLimits(url, gateway.meta);
    const served = { ...scenario, consensus: consensusOf(gateway.meta) };
    const tables = out === undefined ? null : openTables(out, served);
    try {
      return await runThrough(gateway, { scenario: served, options, hooks, tables });
    } finally {
      tables?.abandon();
    }
  } finally {
    gateway.close();
  }
}

function assertLimits(url: string, { limits: { profile } }: Meta): void {
  if (profile !== 'spec') return;
  throw scenarioError('SERVER_LIMITS', { url });
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
  /** Null if the run is not saved. */
  tables: Tables | null;
}

async function runThrough(gateway: RemoteGateway, run: Run): Promise<SimResult> {
  const started = performance.now();
  const { scenario, options, hooks, tables } = run;
  const known = await knownBefore(gateway, options.seed ?? scenario.seed, scenario.population);
  if (known !== null) hooks.onNote?.(known);
  const assembly = await assembleLive(gateway, scenario, options, (agents, startMs, ordinals) => {
    const { onRow, onDecision } = tables ?? {};
    return new Collector(scenario, agents, startMs, { onRow, onDecision, ordinals });
  });
  try {
    return await runToEnd(gateway, run, assembly, started);
  } finally {
    assembly.scripts?.close();
    const stayed = await withdraw(gateway, assembly.agents);
    if (stayed > 0) hooks.onNote?.(`could not deactivate ${stayed} agents on ${gateway.url}`);
  }
}

async function runToEnd(
  gateway: RemoteGateway,
  run: Run,
  society: Assembly<LiveWorld, Collector>,
  started: number,
): Promise<SimResult> {
  const { scenario, options, hooks, tables } = run;
  const { world, observer: collector, settledAt, elections, neighbours } = society;
  const { startMs } = world;
  collector.labels = collectLabels(elections);
  const ending = new Ending(hastened(run), collector, settledAt, startMs);
  const end: { by: EndedBy | null } = { by: null };
  await world.run(() => {
    // The log is on the server, so no local digest exists.
    const position = { seq: gateway.seq, digest: '' };
    if (hooks.onProgress) ending.report(world.now, () => position, hooks.onProgress);
    end.by = ending.reached(world.now);
    return !hooks.signal?.aborted && end.by === null;
  });
  if (end.by === null) throw new Interrupted(gateway.seq);
  const endMs = world.now;
  const verdict = ending.verdict(endMs);
  const ids = Array.from({ length: scenario.population }, (_, agent) => world.agentId(agent));
  const { reads, meta } = await readEnd(gateway, startMs, ids);
  const finished = collector.finish(reads, endMs);
  const { seed = scenario.seed, out } = options;
  const ended = { verdict, ended_by: end.by, finished, endMs, started };
  const result = createResult(
    { ...society, seed, scenario, deciders: null, watched: null, ...ended, made: hooks.made },
    figuresOf(gateway, run, meta),
  );
  if (out !== undefined && tables) {
    tables.finish();
    await writeResult(out, result, finished, neighbours);
  }
  return result;
}

/** Returns the run's figures. Values known only to the server are empty. */
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

/** Scales the voting period from network time to agent time. */
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
    throw remoteError('END_UNREADABLE', { url, detail: cause.message }, { cause });
  }
}

/** Number of agents to check. A seed's agents are registered together. */
const LOOKED_FOR = 4;
const LEAVING_AT_ONCE = 32;
/**
 * Offset of a repeated status update: within the server's clock tolerance, but later than any
 * earlier request of an agent with a skewed clock.
 */
const AHEAD_MS = 290_000;

/** Returns a warning if agents from this seed are already registered; otherwise null. */
async function knownBefore(
  { client, url }: RemoteGateway,
  seed: string,
  population: number,
): Promise<string | null> {
  const first = Array.from({ length: Math.min(LOOKED_FOR, population) }, (_, agent) => agent);
  const looks = first.map(async (agent) => {
    const { publicKey } = keysFromSeed(deriveSecret(seed, agent));
    // Ignore a server failure here, because later requests detect it.
    const view = await client.agent(agentId(publicKey)).catch(() => null);
    return view?.status ?? null;
  });
  const found = (await Promise.all(looks)).filter((status) => status !== null);
  if (found.length === 0) return null;
  const advice = 'use a different --seed for new agents';
  const there = `${url} already has agents of seed ${seed}`;
  return found.includes('active')
    ? `${there}, and they are active; two runs of the same agents interfere; ${advice}`
    : `${there}; they keep their names and reputations; ${advice}`;
}

/**
 * Makes registered agents inactive, because missing electors would delay every block.
 * @returns the number of agents that could not be deactivated.
 */
async function withdraw(gateway: RemoteGateway, agents: readonly ScriptedAgent[]): Promise<number> {
  const joined = agents.filter((agent) => agent.joined && !agent.left);
  let left = 0;
  let gone = false;
  const leave = async (agent: ScriptedAgent) => {
    if (gone) return;
    const answer = await inactive(gateway, agent, gateway.now());
    if (answer === 'REPLAYED') {
      if ((await inactive(gateway, agent, gateway.now() + AHEAD_MS)) === 'done') left += 1;
    } else if (answer === 'done') left += 1;
    else if (answer === 'lost') gone = true;
  };
  await pLimit(LEAVING_AT_ONCE).map(joined, leave);
  return joined.length - left;
}

async function inactive(
  gateway: RemoteGateway,
  { by }: ScriptedAgent,
  at: number,
): Promise<string> {
  const fields = { status: 'inactive', reason: 'its simulation has ended' } as const;
  const request = composeStatus(by, formatInstant(at), agentId(by.publicKey), fields);
  try {
    await gateway.client.send(request);
    return 'done';
  } catch (error) {
    return error instanceof ApiError ? String(error.reason) : 'lost';
  }
}

const READS_AT_ONCE = 16;
/** Blocks per page. */
const PAGE = 1_000;

/**
 * Reads the blocks since a given time, the named agents, the blocks' producers and all active
 * agents. No server list includes other inactive agents.
 */
async function readsOf(
  client: NetworkClient,
  { sinceMs, agents: ids }: { sinceMs: number; agents: readonly string[] },
): Promise<RunReads> {
  const blocks = await blocksSince(client, sinceMs);
  const { validators, producers } = await client.agents();
  const active = [...validators, ...producers].map(({ id }) => id);
  const all = new Set([...ids, ...active, ...blocks.map(({ producer }) => producer.id)]);
  const agents = await fetchEach([...all].sort(), (id) => known(client.agent(id)));
  const scores = await fetchEach([...ids], (id) => known(client.reputation(id)));
  const electors = await electorsOf(client, blocks);
  const views = new Map(blocks.map((block) => [block.block_hash, block]));
  return {
    agent: (id) => agents.get(id),
    agents: () => [...agents.values()].filter((agent) => agent !== undefined),
    reputation: (id) => scores.get(id),
    block: (hash) => views.get(hash),
    record: (_, hash) => ({ context: { electors: electors.get(hash) ?? 0 } }),
  };
}

/** Reads blocks since a given time, newest first. */
async function blocksSince(client: NetworkClient, sinceMs: number): Promise<BlockView[]> {
  const blocks: BlockView[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await client.blocks(query);
    blocks.push(...page.blocks.filter(({ timestamp }) => Date.parse(timestamp) >= sinceMs));
    const oldest = page.blocks.at(-1)?.timestamp;
    const more = oldest !== undefined && Date.parse(oldest) >= sinceMs;
    cursor = more ? (page.next_cursor ?? undefined) : undefined;
  } while (cursor !== undefined);
  return blocks;
}

/** Returns the number of electors of each block: the tally's electorate if all votes weigh 1. */
async function electorsOf(client: NetworkClient, blocks: readonly BlockView[]) {
  const { weights } = await client.meta();
  if (weights === 'equal') {
    return new Map(blocks.map(({ block_hash, tally }) => [block_hash, tally.electorate]));
  }
  const hashes = blocks.map(({ block_hash }) => block_hash);
  return fetchEach(hashes, async (hash) => {
    return (await client.votes(hash, { limit: 1 })).electorate.length;
  });
}

/** Resolves to undefined for an unknown agent. */
async function known<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { reason?: unknown }).reason === 'UNKNOWN_AGENT') return undefined;
    throw error;
  }
}

async function fetchEach<T>(
  keys: readonly string[],
  fetched: (key: string) => Promise<T>,
): Promise<Map<string, T>> {
  const values = await pLimit(READS_AT_ONCE).map(keys, fetched);
  return new Map(keys.map((key, index) => [key, values[index] as T]));
}
