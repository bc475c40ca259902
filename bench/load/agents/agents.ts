/**
 * The agents of a run: their keys follow from its seed, they are registered before it and set
 * inactive after it, so that no server is left with validators who never vote.
 */
import { setMaxListeners } from 'node:events';
import { LoadError } from '../error.js';
import { isRecord } from '../json.js';
import { signRequests, type Unsigned } from '../prepare/requests.js';
import type { Signers } from '../prepare/signers.js';
import type { Answer, Asker } from '../server/ask.js';
import { eachOf } from '../server/each.js';

export interface Agent {
  ordinal: number;
  publicKey: string;
  /** As the server calls it. */
  id: string;
  /** Of a request whose signature is in its body. */
  headers: Record<string, string>;
}

type Capability = 'validator' | 'producer';

export interface Means {
  asker: Asker;
  signers: Signers;
  /** The server's time. */
  now(): number;
  /** A timestamp later than any that this agent signed before. */
  stamp(agent: number, wantedMs: number): string;
  progress(line: string): void;
}

export interface Enlisting extends Means {
  capabilitiesOf(ordinal: number): Capability[];
}

/** Requests under way at a time. */
const AT_A_TIME = 64;
const personalities = ['lawful', 'rational', 'neutral', 'strategic'];
/** A server that hangs does not keep a run from ending. */
const DISMISSAL_MS = 4_000;

/** Those that are registered are in `agents`. @throws {LoadError} when one is refused. */
export async function register(
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
  await eachOf(signed, AT_A_TIME, async (request) => {
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
export async function deregister(agents: readonly Agent[], means: Means): Promise<void> {
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
  await eachOf(signed, AT_A_TIME, (request) => asker.ask(request, signal));
}

export function statusChange(
  { ordinal, publicKey, id }: Agent,
  change: { status: 'active' | 'inactive'; reason: string; timestamp: string },
): Unsigned {
  const { status, reason, timestamp } = change;
  const target = `/api/v1/agents/${encodeURIComponent(id)}/status`;
  const body = JSON.stringify({ status, reason, expected_duration: 'PT1H' });
  return { agent: ordinal, publicKey, method: 'PUT', target, timestamp, body };
}

function registration(
  by: Pick<Unsigned, 'agent' | 'publicKey' | 'timestamp'>,
  capabilities: Capability[],
): Unsigned {
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
