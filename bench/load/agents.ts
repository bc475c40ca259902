/**
 * The agents of a run: their keys follow from its seed, they are registered before it and set
 * inactive after it, so that no server is left with validators who never vote.
 */
import { type Answer, type Asker, isRecord } from './ask.js';
import { LoadError } from './error.js';
import { type Signed, signRequests, type Unsigned } from './prepare/requests.js';
import type { Signers } from './prepare/signers.js';

export interface Agent {
  ordinal: number;
  publicKey: string;
  /** As the server calls it. */
  id: string;
  /** Of a request whose signature is in its body. */
  headers: Record<string, string>;
}

export interface Enlisting {
  asker: Asker;
  signers: Signers;
  /** The server's time. */
  now(): number;
  progress(line: string): void;
  capabilitiesOf(ordinal: number): ('validator' | 'producer')[];
}

type Capability = 'validator' | 'producer';

/** Requests under way at a time. */
const AT_A_TIME = 64;
const personalities = ['lawful', 'rational', 'neutral', 'strategic'];
/** A server that hangs does not keep a run from ending. */
const DISMISSAL_MS = 4_000;

/** @throws {LoadError} when one is refused. */
export async function enlist(keys: readonly string[], enlisting: Enlisting): Promise<Agent[]> {
  const { asker, signers, now, progress, capabilitiesOf } = enlisting;
  const started = performance.now();
  const timestamp = new Date(now()).toISOString();
  const requests = keys.map((publicKey, agent) =>
    registration({ agent, publicKey, timestamp }, capabilitiesOf(agent)),
  );
  const signed = await signRequests(signers, requests);
  let done = 0;
  const agents = await eachOf(signed, async (request) => {
    const id = idOf(request, keys.length, await asker.ask(request));
    done += 1;
    if (done % 5_000 === 0) progress(`${done} of ${keys.length} agents are registered`);
    const { agent: ordinal, publicKey } = request;
    const json = { 'content-type': 'application/json', 'x-agent-public-key': publicKey };
    return { ordinal, publicKey, id, headers: json };
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  progress(`${keys.length} agents are registered, in ${seconds} s`);
  return agents;
}

/** Sets them inactive: as many as get through in a few seconds. */
export async function dismiss(agents: readonly Agent[], enlisting: Enlisting): Promise<void> {
  const { asker, signers, now } = enlisting;
  const signal = AbortSignal.timeout(DISMISSAL_MS);
  const timestamp = new Date(now()).toISOString();
  const reason = 'the load run is over';
  const changes = agents.map((agent) =>
    statusChange(agent, { status: 'inactive', reason, timestamp }),
  );
  try {
    const signed = await signRequests(signers, changes);
    await eachOf(signed, (request) => asker.ask(request, signal));
  } catch {
    // The server is gone, or slow: there is nobody to leave in good order.
  }
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

function idOf({ agent }: Signed, count: number, answer: Answer): string {
  const { status, data, text } = answer;
  if (isRecord(data) && typeof data.agent_id === 'string') return data.agent_id;
  const which = `agent ${agent + 1} of ${count} was not registered: the server answered ${text}`;
  if (status !== 429) throw new LoadError(`${which}; expected an agent_id`);
  throw new LoadError(
    `${which}; a load run needs a server without rate limits (folkmoot serve --limits off)`,
  );
}

/** The first failure ends it. */
async function eachOf<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(all.length);
  const waiting = all.entries();
  const lane = async () => {
    for (const [index, one] of waiting) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  return results;
}
