/** Live servers over real sockets, and agents. All are torn down with the test. */
import type { GenesisOptions } from 'folkmoot';
import type { ServerOptions } from 'folkmoot/api';
import { AgentClient, type AgentClientOptions, type Event, keysFromSeed } from 'folkmoot/client';
import { serve } from '../support/service/server.js';

export interface LiveOptions extends Omit<Partial<ServerOptions>, 'network'> {
  /** Data folder (default: in memory). */
  path?: string;
  genesis?: Partial<GenesisOptions>;
}

/** Serves a network at 127.0.0.1 until the test ends, without limits by default. */
export async function live({ path, genesis = {}, ...options }: LiveOptions = {}) {
  const server = { limits: 'off' as const, ...options };
  const where = path === undefined ? {} : { path };
  const running = await serve({ transport: null, genesis, server, ...where });
  onTestFinished(running.close);
  return { url: running.url, network: running.network, stop: running.close };
}

/** Returns a client with a key derived from a number. */
export function clientOf(
  url: AgentClientOptions['url'],
  number = 1,
  more: Partial<AgentClientOptions> = {},
): AgentClient {
  const keys = keysFromSeed(new Uint8Array(32).fill(number));
  return new AgentClient({ url, keys, ...more });
}

/** Returns a client registered as validator and producer. */
export async function agentOf(
  url: AgentClientOptions['url'],
  number = 1,
  more: Partial<AgentClientOptions> = {},
): Promise<AgentClient> {
  const client = clientOf(url, number, more);
  const capabilities = ['validator', 'producer'] as const;
  await client.register({ name: `agent ${number}`, personality: 'rational', capabilities });
  return client;
}

/** Returns the next `count` events from a stream. */
export async function take(stream: AsyncIterator<Event>, count: number): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length < count) {
    const { done, value } = await stream.next();
    if (done) break;
    events.push(value);
  }
  return events;
}

export const seqsOf = (events: readonly Event[]) => events.map(({ seq }) => seq);

/** Returns the rejection reason of a promise. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
