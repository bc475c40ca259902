/**
 * A run's agents and the pool that gives them to workloads, with signing threads and the clock of
 * the server. Keys derive from the run's seed. At its end, a run sets its agents inactive.
 */
import { setMaxListeners } from 'node:events';
import { authInput, sha256Hex } from '../../engine/protocol/signing.js';
import { loadError, note } from './messages.js';
import { MOST, serversOf } from './options.js';
import {
  type Answer,
  activeAgents,
  forEachLimited,
  isRecord,
  readSurroundings,
  ServerClient,
  type Surroundings,
} from './server.js';
import { SignedRecord, Signers, signEach, signRequests, type UnsignedCall } from './signers.js';
import type { RunContext } from './workload.js';

export interface Agent {
  ordinal: number;
  publicKey: string;
  id: string;
  /** Headers for requests with the signature in the body. */
  headers: Record<string, string>;
}

type Capability = 'validator' | 'producer';

type Means = Pick<AgentPool, 'asker' | 'signers' | 'now' | 'stamp' | 'progress'>;

const AT_A_TIME = 64;
/** Longer than requests are signed ahead, and shorter than the 300 s that a server allows. */
const LATER_MS = 250_000;
const personalities = ['lawful', 'rational', 'neutral', 'strategic'];
/** Time limit for setting agents inactive, so that a silent server does not delay the end. */
const DISMISSAL_MS = 4_000;

/** Registers agents from this ordinal on. @throws {Failure} if one is refused. */
async function register(
  first: number,
  keys: readonly string[],
  means: Means,
  capabilitiesOf: (ordinal: number) => Capability[],
): Promise<Agent[]> {
  const { asker, signers, now, stamp, progress } = means;
  const started = performance.now();
  const requests = keys.map((publicKey, index) => {
    const agent = first + index;
    const by = { agent, publicKey, timestamp: stamp(agent, now()) };
    return registration(by, capabilitiesOf(agent));
  });
  const signed = await signRequests(signers, requests);
  const [agents, asleep]: [Agent[], Agent[]] = [[], []];
  await forEachLimited(signed, AT_A_TIME, async (request) => {
    const answer = await asker.ask(request);
    const { agent: ordinal, publicKey } = request;
    const id = idOf({ number: ordinal + 1, count: first + keys.length }, answer);
    const json = { 'content-type': 'application/json', 'x-agent-public-key': publicKey };
    const agent = { ordinal, publicKey, id, headers: json };
    agents.push(agent);
    if ((answer.data as { status?: unknown }).status === 'inactive') asleep.push(agent);
  });
  agents.sort((a, b) => a.ordinal - b.ordinal);
  // Registered by an earlier run with the same seed.
  await changeAll(asleep, { status: 'active', reason: 'a load run begins' }, means);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  progress(`${keys.length} agents registered in ${seconds} s`);
  return agents;
}

/** Sets agents inactive, as many as possible within a few seconds. */
async function deregister(agents: readonly Agent[], means: Means): Promise<void> {
  const signal = AbortSignal.timeout(DISMISSAL_MS);
  setMaxListeners(0, signal);
  try {
    const change = { status: 'inactive', reason: 'the load run is over' } as const;
    await changeAll(agents, change, means, signal);
  } catch {
    // The server is gone or slow, so the agents stay active.
  }
}

async function changeAll(
  agents: readonly Agent[],
  change: { status: 'active' | 'inactive'; reason: string },
  { asker, signers, now, stamp }: Means,
  signal?: AbortSignal,
): Promise<void> {
  let left = agents;
  // A run that was killed may have signed changes for later, which precede only later ones.
  for (const leadMs of [0, LATER_MS]) {
    const changes = left.map((agent) =>
      statusChange(agent, { ...change, timestamp: stamp(agent.ordinal, now() + leadMs) }),
    );
    const refused: Agent[] = [];
    const signed = await signRequests(signers, changes);
    await forEachLimited(signed, AT_A_TIME, async (request, index) => {
      const { data, text } = await asker.ask(request, signal);
      if (data !== undefined) return;
      refused.push(left[index]!);
      const values = { number: request.agent + 1, status: change.status, response: text };
      if (leadMs > 0) throw loadError('STATUS_REFUSED', values);
    });
    left = refused;
  }
}

const KEYS_OF_PART = 4_096;

/**
 * Sets the agents inactive that an earlier run with this seed left active. Derives keys until it
 * knows all active agents of the server, or up to the largest run. @throws {Failure}
 */
async function retire(from: number, means: Means): Promise<number> {
  const { asker, signers } = means;
  const active = await activeAgents(asker);
  const left: Agent[] = [];
  for (let first = from; first < MOST.agents + MOST.updaters && active.size > 0; ) {
    const ordinals = Array.from({ length: KEYS_OF_PART }, (_, index) => first + index);
    for (const [index, publicKey] of (await signers.publicKeys(ordinals)).entries()) {
      const id = active.get(publicKey);
      if (id === undefined) continue;
      left.push({ ordinal: first + index, publicKey, id, headers: {} });
      active.delete(publicKey);
    }
    first += KEYS_OF_PART;
  }
  await changeAll(left, { status: 'inactive', reason: 'the load run is over' }, means);
  return left.length;
}

/** Retires all agents of a seed. Returns their number. @throws {Failure} */
export async function cleanUp(url: string, seed: string): Promise<number> {
  const asker = new ServerClient(url, CONNECTIONS);
  const signers = new Signers({ seed, run: '', networkId: '' });
  try {
    const { offsetMs } = await readSurroundings(asker);
    const now = () => Date.now() + offsetMs;
    const stamp = (_: number, wantedMs: number) => new Date(Math.round(wantedMs)).toISOString();
    return await retire(0, { asker, signers, now, stamp, progress: () => {} });
  } finally {
    await Promise.all([signers.close(), asker.close()]);
  }
}

export function statusChange(
  { ordinal, publicKey, id }: Agent,
  change: { status: 'active' | 'inactive'; reason: string; timestamp: string },
): UnsignedCall {
  const { status, reason, timestamp } = change;
  const target = `/api/v1/agents/${encodeURIComponent(id)}/status`;
  const body = JSON.stringify({ status, reason, expected_duration: 'PT1H' });
  return { agent: ordinal, publicKey, method: 'PUT', target, timestamp, body };
}

function registration(
  by: Pick<UnsignedCall, 'agent' | 'publicKey' | 'timestamp'>,
  capabilities: Capability[],
): UnsignedCall {
  const body = JSON.stringify({
    public_key: by.publicKey,
    personality: personalities[by.agent % personalities.length],
    name: `load ${by.agent}`,
    description: 'an agent of a load run',
    capabilities,
  });
  return { ...by, method: 'POST', target: '/api/v1/agents/register', body };
}

function idOf(agent: { number: number; count: number }, { status, data, text }: Answer): string {
  if (isRecord(data) && typeof data.agent_id === 'string') return data.agent_id;
  const problem = status === 429 ? 'REGISTRATION_LIMITED' : 'NOT_REGISTERED';
  throw loadError(problem, { ...agent, response: text });
}

/** Connections in addition to the run's connections. */
const CONNECTIONS = 64;

export class AgentPool {
  readonly context: RunContext;
  readonly progress: (line: string) => void;
  readonly asker: ServerClient;
  readonly record = new SignedRecord();
  /** Id of this run, included in everything that the run writes. */
  readonly run: string;
  readonly agents: Agent[] = [];
  /** Known after `gather`. */
  surroundings!: Surroundings;
  signers!: Signers;
  readonly #stamps = new Map<number, number>();
  /** Time of the last `auth` message of each agent. */
  readonly #auths = new Map<number, number>();
  readonly #ends: (() => void)[] = [];
  #closed = false;

  constructor(context: RunContext, progress: (line: string) => void) {
    const { seed, shard } = context.options;
    this.context = context;
    this.progress = progress;
    this.asker = new ServerClient(serversOf(context.options), CONNECTIONS);
    // Includes the current time, so that reusing a seed does not repeat transactions.
    this.run = sha256Hex(`folkmoot-load-run\n${seed}\n${Date.now()}\n${shard?.index}`).slice(0, 16);
  }

  async gather(): Promise<void> {
    this.surroundings = await readSurroundings(this.asker);
    if (this.#closed) throw loadError('RUN_OVER', {});
    const { seed, signingThreads, payload } = this.context.options;
    const networkId = this.surroundings.networkId ?? '';
    const setting = { seed, run: this.run, networkId, ...(payload ? { payload } : {}) };
    this.signers = new Signers(setting, signingThreads);
  }

  readonly now = (): number => Date.now() + this.surroundings.offsetMs;

  /** Returns a timestamp later than any that this agent has signed. */
  readonly stamp = (agent: number, wantedMs: number): string => {
    const atMs = Math.max(Math.round(wantedMs), (this.#stamps.get(agent) ?? 0) + 1);
    this.#stamps.set(agent, atMs);
    return new Date(atMs).toISOString();
  };

  /** Returns the keys of the next agents to register. */
  keys(count: number): Promise<string[]> {
    const first = this.agents.length;
    return this.signers.publicKeys(Array.from({ length: count }, (_, index) => first + index));
  }

  async auth({ ordinal: agent, publicKey }: Agent): Promise<string> {
    // A server takes each message once, also if an agent connects twice in a millisecond.
    const atMs = Math.max(Math.round(this.now()), (this.#auths.get(agent) ?? 0) + 1);
    this.#auths.set(agent, atMs);
    const timestamp = new Date(atMs).toISOString();
    const input = authInput(publicKey, timestamp);
    const [signature] = await signEach(this.signers, [{ agent, input }]);
    return JSON.stringify({ type: 'auth', public_key: publicKey, timestamp, signature });
  }

  /** Ends the run if a server has lost its data. */
  readonly onEpoch = (before: string, after: string): void =>
    this.context.fail(note('EPOCH_CHANGED', { before, after }).text);

  /** Registers further agents, and returns them. @throws {Failure} if an agent is refused. */
  async register(
    count: number,
    capabilitiesOf: (ordinal: number) => Capability[],
  ): Promise<Agent[]> {
    const keys = await this.keys(count);
    const agents = await register(this.agents.length, keys, this, capabilitiesOf);
    this.agents.push(...agents);
    return agents;
  }

  /** Retires the agents from this ordinal on, if the user named the seed. @throws {Failure} */
  async retireLeft(from: number): Promise<void> {
    if (!this.context.options.seedNamed || this.context.options.shard) return;
    const count = await retire(from, this);
    if (count > 0) this.progress(`${count} agents of an earlier run with this seed set inactive`);
  }

  readonly signingFailed = ({ message }: Error): void =>
    this.context.fail(note('SIGNING_FAILED', { reason: message }).text);

  /** Called when everything is signed ahead and the warm-up starts. */
  ready(): void {
    const { context, record } = this;
    record.measuredFromMs = context.now() + context.options.warmupMs;
  }

  /** Registers a cleanup for the end of the run, or runs it at once if the run is already over. */
  atEnd(end: () => void): void {
    if (this.#closed) end();
    else this.#ends.push(end);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    const { signers, asker, agents, context } = this;
    if (agents.length > 0 && !context.options.keepAgents) await deregister(agents, this);
    await Promise.all([signers?.close(), asker.close()]);
  }
}
