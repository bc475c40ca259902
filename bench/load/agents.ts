/**
 * The agents of a run and the pool in which workloads find them, with the threads that sign and the
 * server's clock. Keys follow from the run's seed; agents are registered before the run and set
 * inactive after it, so that no server is left with validators that never vote.
 */

import { setMaxListeners } from 'node:events';
import { sha256Hex } from '../../engine/protocol/signing.js';
import {
  type Answer,
  forEachLimited,
  isRecord,
  LoadError,
  readSurroundings,
  ServerClient,
  type Surroundings,
} from './server.js';
import {
  aheadMs,
  type SignedCall,
  SignedRecord,
  Signers,
  Supply,
  type SupplyPlan,
  signRequests,
  type UnsignedCall,
} from './signers.js';
import type { Call, CallOutcome, RunContext } from './workload.js';

export interface Agent {
  ordinal: number;
  publicKey: string;
  /** As the server calls it. */
  id: string;
  /** Of a request whose signature is in its body. */
  headers: Record<string, string>;
}

type Capability = 'validator' | 'producer';

interface Means {
  asker: ServerClient;
  signers: Signers;
  /** The server's time. */
  now(): number;
  /** A timestamp later than any that this agent signed before. */
  stamp(agent: number, wantedMs: number): string;
  progress(line: string): void;
}

interface Enlisting extends Means {
  capabilitiesOf(ordinal: number): Capability[];
}

/** Requests under way at a time. */
const AT_A_TIME = 64;
const personalities = ['lawful', 'rational', 'neutral', 'strategic'];
/** A server that hangs does not keep a run from ending. */
const DISMISSAL_MS = 4_000;

/** Those that are registered are in `agents`. @throws {LoadError} when one is refused. */
async function register(
  keys: readonly string[],
  agents: Agent[],
  enlisting: Enlisting,
): Promise<void> {
  const { asker, signers, now, stamp, progress, capabilitiesOf } = enlisting;
  const started = performance.now();
  const requests = keys.map((publicKey, agent) =>
    registration({ agent, publicKey, timestamp: stamp(agent, now()) }, capabilitiesOf(agent)),
  );
  const signed = await signRequests(signers, requests);
  const asleep: Agent[] = [];
  await forEachLimited(signed, AT_A_TIME, async (request) => {
    const answer = await asker.ask(request);
    const { agent: ordinal, publicKey } = request;
    const id = idOf(`agent ${ordinal + 1} of ${keys.length}`, answer);
    const json = { 'content-type': 'application/json', 'x-agent-public-key': publicKey };
    const agent = { ordinal, publicKey, id, headers: json };
    agents.push(agent);
    if ((answer.data as { status?: unknown }).status === 'inactive') asleep.push(agent);
  });
  agents.sort((a, b) => a.ordinal - b.ordinal);
  // Of an earlier run with the same seed.
  await changeAll(asleep, { status: 'active', reason: 'a load run begins' }, enlisting);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  progress(`${keys.length} agents are registered, in ${seconds} s`);
}

/** Sets them inactive: as many as get through in a few seconds. */
async function deregister(agents: readonly Agent[], means: Means): Promise<void> {
  const signal = AbortSignal.timeout(DISMISSAL_MS);
  setMaxListeners(0, signal);
  try {
    const change = { status: 'inactive', reason: 'the load run is over' } as const;
    await changeAll(agents, change, means, signal);
  } catch {
    // The server is gone, or slow: there is nobody to leave in good order.
  }
}

async function changeAll(
  agents: readonly Agent[],
  change: { status: 'active' | 'inactive'; reason: string },
  { asker, signers, now, stamp }: Means,
  signal?: AbortSignal,
): Promise<void> {
  const changes = agents.map((agent) =>
    statusChange(agent, { ...change, timestamp: stamp(agent.ordinal, now()) }),
  );
  const signed = await signRequests(signers, changes);
  await forEachLimited(signed, AT_A_TIME, (request) => asker.ask(request, signal));
}

function statusChange(
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

function idOf(who: string, { status, data, text }: Answer): string {
  if (isRecord(data) && typeof data.agent_id === 'string') return data.agent_id;
  const what = `${who} was not registered: the server answered ${text}`;
  const hint =
    status === 429
      ? 'a load run needs a server without rate limits, such as folkmoot serve --limits off'
      : 'expected 201 and an agent_id';
  throw new LoadError(`${what}; ${hint}`);
}

/** Beside those of the run. */
const CONNECTIONS = 64;

export class AgentPool {
  readonly context: RunContext;
  readonly progress: (line: string) => void;
  readonly asker: ServerClient;
  readonly record = new SignedRecord();
  /** Names this run in what it writes. */
  readonly run: string;
  readonly agents: Agent[] = [];
  #found: { surroundings: Surroundings; signers: Signers } | null = null;
  readonly #stamps = new Map<number, number>();
  readonly #ends: (() => void)[] = [];
  #closed = false;

  constructor(context: RunContext, progress: (line: string) => void) {
    const { seed, url } = context.options;
    this.context = context;
    this.progress = progress;
    this.asker = new ServerClient(url, CONNECTIONS);
    // By the time as well: a seed that is given again must not make the same transactions again.
    this.run = sha256Hex(`folkmoot-load-run\n${seed}\n${Date.now()}`).slice(0, 16);
  }

  /** Looks at the server first of all. @throws {LoadError} when it is not as it should be. */
  async gather(): Promise<void> {
    const surroundings = await readSurroundings(this.asker);
    if (this.#closed) throw new LoadError('the run is over');
    const { seed } = this.context.options;
    const networkId = surroundings.networkId ?? '';
    this.#found = { surroundings, signers: new Signers({ seed, run: this.run, networkId }) };
  }

  get surroundings(): Surroundings {
    return this.#found!.surroundings;
  }

  get signers(): Signers {
    return this.#found!.signers;
  }

  /** The server's time. */
  readonly now = (): number => Date.now() + this.surroundings.offsetMs;

  /** A timestamp, later than any this agent signed before. */
  readonly stamp = (agent: number, wantedMs: number): string => {
    const atMs = Math.max(Math.round(wantedMs), (this.#stamps.get(agent) ?? 0) + 1);
    this.#stamps.set(agent, atMs);
    return new Date(atMs).toISOString();
  };

  keys(count: number): Promise<string[]> {
    return this.signers.publicKeys(Array.from({ length: count }, (_, ordinal) => ordinal));
  }

  /** @throws {LoadError} when one is refused. */
  async register(
    keys: readonly string[],
    capabilitiesOf: (ordinal: number) => ('validator' | 'producer')[],
  ): Promise<void> {
    await register(keys, this.agents, { ...this.#means, capabilitiesOf });
  }

  /** Requests signed ahead, from now until the run is over. */
  supply<T extends { timestamp: string }>({
    make,
    perS,
    onReady,
  }: Pick<SupplyPlan<T>, 'make' | 'perS' | 'onReady'>): Supply<T> {
    const supply = new Supply<T>({
      make,
      stampOf: ({ timestamp }) => Date.parse(timestamp),
      expected: Math.ceil(perS * computeSupplySeconds(this.context)),
      perS,
      now: this.now,
      onReady,
      onFailed: this.signingFailed,
    });
    this.atEnd(() => supply.close());
    return supply;
  }

  /** The run cannot go on. */
  readonly signingFailed = ({ message }: Error): void =>
    this.context.fail(`signing failed: ${message}`);

  /** All is signed that is signed ahead: the warm-up begins. */
  ready(): void {
    const { context, record } = this;
    record.measuredFromMs = context.now() + context.options.warmupMs;
  }

  /** To be done when the run is over; at once, when it is over already. */
  atEnd(end: () => void): void {
    if (this.#closed) end();
    else this.#ends.push(end);
  }

  /** Whatever it was doing, it does no more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends) end();
    if (this.#found && !this.context.options.keepAgents) await deregister(this.agents, this.#means);
    await Promise.all([this.#found?.signers.close(), this.asker.close()]);
  }

  get #means() {
    const { asker, signers, now, stamp, progress } = this;
    return { asker, signers, now, stamp, progress };
  }
}

/** How long a run lasts, as far as what is signed ahead goes: a second more. */
export const computeSupplySeconds = ({ options }: RunContext): number =>
  (options.warmupMs + options.durationMs) / 1_000 + 1;

/*
 * Status updates that change nothing but their reason, signed ahead. A server takes an agent's
 * updates in the order of their timestamps only, so each agent has one under way at a time.
 */

interface StatusPlan {
  agents: readonly Agent[];
  perS: number;
  onReady(): void;
  /** Of the update with this number, from 0. */
  onCompleted(number: number, outcome: CallOutcome): void;
}

type Update = SignedCall & { number: number };

export class Statuses {
  readonly #pool: AgentPool;
  readonly #plan: StatusPlan;
  readonly #supply: Supply<Update>;
  readonly #busy = new Set<number>();
  #made = 0;

  constructor(pool: AgentPool, plan: StatusPlan) {
    this.#pool = pool;
    this.#plan = plan;
    const make = (count: number, position: number) => this.#make(count, position);
    this.#supply = pool.supply({ make, perS: plan.perS, onReady: plan.onReady });
  }

  /** What the reason of each update begins with; its number follows. */
  get mark(): string {
    return `load ${this.#pool.run} `;
  }

  prepare(): Promise<void> {
    return this.#supply.prepare();
  }

  /** Whether there is one to send. */
  get ready(): boolean {
    const front = this.#supply.peek();
    return front !== null && !this.#busy.has(front.agent);
  }

  /** The next, and its number; or null until `onReady`. */
  next(): { call: Call; number: number } | null {
    if (!this.ready) return null;
    const update = this.#supply.take();
    const { agent, number, target, headers, body, signedAtMs } = update;
    this.#pool.record.used(agent, signedAtMs);
    this.#busy.add(agent);
    const call: Call = {
      operation: 'status',
      method: 'PUT',
      target,
      headers,
      body,
      holds: statusHolds,
      completed: (outcome) => {
        this.#busy.delete(agent);
        this.#plan.onCompleted(number, outcome);
        this.#plan.onReady();
      },
    };
    return { call, number };
  }

  async #make(count: number, position: number): Promise<Update[]> {
    const { now, stamp, signers } = this.#pool;
    const { agents, perS } = this.#plan;
    const first = this.#made;
    this.#made += count;
    const nowMs = now();
    const changes = Array.from({ length: count }, (_, index) => {
      const agent = agents[(first + index) % agents.length]!;
      const atMs = nowMs + Math.min(aheadMs, ((position + index) * 1_000) / perS);
      const timestamp = stamp(agent.ordinal, atMs);
      const reason = this.mark + (first + index);
      return statusChange(agent, { status: 'active', reason, timestamp });
    });
    const signed = await signRequests(signers, changes);
    return signed.map((request, index) => ({ ...request, number: first + index }));
  }
}

/** The interface does not show this answer; what a server says must fit the update. */
function statusHolds(data: unknown): boolean {
  if (!isRecord(data) || data.duplicate === true) return false;
  return data.status === undefined || data.status === 'active';
}
