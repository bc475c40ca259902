/** A live server for a test. The server closes at the end of the test. */
import {
  createVerifier,
  type GenesisOptions,
  Network,
  type Verifier,
  type VirtualClock,
  virtualClock,
} from 'folkmoot';
import { type ServerOptions, startServer } from 'folkmoot/api';
import { START_MS } from '../citizens.js';
import { full } from '../counts.js';
import { type Agent, agentOf, type Fields, register } from './signer.js';
import { type Service, World } from './world.js';

export const transports = ['uws', 'node'] as const;
export type TransportName = (typeof transports)[number];

/** Transports for tests that do not depend on the transport: all with full counts. */
export const oneTransport: readonly TransportName[] = full ? transports : ['node'];

export interface Around {
  /** `null`: as the server chooses (default: node). */
  transport?: TransportName | null;
  limits?: 'spec' | 'bench' | 'off';
  genesis?: Partial<GenesisOptions>;
  /** Data folder (default: in memory). */
  path?: string;
  /** Virtual clock for engine and API. */
  clock?: VirtualClock;
  server?: Partial<ServerOptions>;
  /** Shared verifier (default: a new verifier in the main thread). */
  verifier?: Verifier;
}

export interface Running extends Service {
  network: Network;
}

/** Starts a server that the caller must close. */
export async function serve(around: Around = {}): Promise<Running> {
  const { transport = 'node', limits = 'bench', genesis = {}, path, clock, server = {} } = around;
  const verifier = around.verifier ?? createVerifier('inline');
  const network = await Network.open({
    ...(path === undefined ? { memory: true } : { path }),
    genesis: { network_id: 'testnet', ...genesis },
    verifier,
    ...(clock ? { clock } : {}),
    onFatal: (error) => {
      throw error;
    },
  });
  const running = await startServer({
    network,
    port: 0,
    ...(transport ? { transport } : {}),
    limits,
    version: '0.0.0-test',
    ...(clock ? { now: clock.now } : {}),
    onFault: (error) => process.stderr.write(`a request failed: ${(error as Error).stack}\n`),
    ...server,
  });
  let closed: Promise<void> | null = null;
  const close = async () => {
    await running.close();
    await network.close();
    if (!around.verifier) await verifier.close();
  };
  return {
    network,
    url: running.url,
    wsUrl: `${running.url.replace('http', 'ws')}/ws/v1`,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Starts a server that closes at the end of the test. */
export async function world(around: Around = {}): Promise<World & Running> {
  const running = await serve(around);
  onTestFinished(() => running.close());
  return Object.assign(new World(running), { network: running.network, close: running.close });
}

/** Starts a server with the limits of `spec` in virtual time, which moves only by `pass`. */
export async function timedWorld(around: Around = {}) {
  const clock = virtualClock(START_MS);
  const there = await world({ limits: 'spec', clock, ...around });
  const at = () => new Date(clock.now()).toISOString();
  const pass = (milliseconds: number) => clock.set(clock.now() + milliseconds);
  /** Registers an agent, and waits until its address may register another. */
  const join = async (name: string, fields: Fields = {}): Promise<Agent> => {
    const agent = agentOf(name);
    await there.do(register(agent, fields, at()));
    pass(60_000);
    return agent;
  };
  return { there, at, pass, join };
}

export type TimedWorld = Awaited<ReturnType<typeof timedWorld>>;
