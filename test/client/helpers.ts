/** Live servers over real sockets, and agents. All are torn down with the test. */
import { createVerifier, type GenesisOptions, Network } from 'folkmoot';
import { type Server, type ServerOptions, startServer } from 'folkmoot/api';
import { AgentClient, type AgentClientOptions, type Event, keysFromSeed } from 'folkmoot/client';
import { onTestFinished } from 'vitest';

export interface LiveOptions extends Omit<Partial<ServerOptions>, 'network'> {
  /** Data folder (default: in memory). */
  path?: string;
  genesis?: Partial<GenesisOptions>;
}

export interface Live {
  url: string;
  network: Network;
  server: Server;
  /** Stops server and network. */
  stop(): Promise<void>;
}

/** Serves a network at 127.0.0.1 until the test ends. */
export async function live({ path, genesis = {}, ...options }: LiveOptions = {}): Promise<Live> {
  const verifier = createVerifier('inline');
  const network = await Network.open({
    ...(path === undefined ? { memory: true } : { path }),
    genesis: { network_id: 'testnet', ...genesis },
    verifier,
    onFatal: (error) => {
      throw error;
    },
  });
  const server = await startServer({ network, limits: 'off', version: '0', ...options });
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= (async () => {
      await server.close();
      await network.close();
      await verifier.close();
    })();
    return stopped;
  };
  onTestFinished(stop);
  return { url: server.url, network, server, stop };
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
