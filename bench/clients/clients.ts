/**
 * Clients that measure a server, each in its own thread: GET requests, signed requests, and
 * subscribers. The first two clients also report the server's CPU time per request.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Signatory } from '../../engine/protocol/compose.js';
import { authInput } from '../../engine/protocol/signing.js';
import { median } from '../raw/raw.js';
import type { MeasuredServer } from '../servers/child-server.js';
import { type ByThread, watchThreads } from '../servers/processes.js';
import type { GetCount, GetOrder } from './get-thread.js';
import type { Posting, PostsOrder, PostTimes } from './posts-thread.js';
import type { Expecting, SubscribersOrder } from './subscribers-thread.js';

interface Answering {
  perSecond: number;
  /** Server CPU time per response, in microseconds, independent of the client. */
  cpuUs: number;
  /** Responses during the measurement, and the threads' CPU time meanwhile. */
  spent: { answers: number; threads: ByThread | null };
}

const CONNECTIONS = 64;
const WARM_UP_MS = 500;

export async function getRate(
  server: MeasuredServer,
  path: string,
  seconds: number,
): Promise<Answering> {
  const order: GetOrder = {
    port: Number(new URL(server.url).port),
    path,
    connections: CONNECTIONS,
  };
  const client = new Worker(new URL('./get-thread.js', import.meta.url), { workerData: order });
  const count = async () => {
    client.postMessage('count');
    const [count] = (await once(client, 'message')) as [GetCount];
    return { ...count, cpu: await server.cpuSeconds() };
  };
  try {
    await sleep(WARM_UP_MS);
    const before = await count();
    const threads = watchThreads(server.pid, 0);
    await sleep(1000 * seconds);
    const after = await count();
    const answered = after.answered - before.answered;
    const spent = { answers: answered, threads: threads() };
    if (answered === 0) throw new Error(`no response from ${server.url}${path}`);
    return {
      perSecond: (1000 * answered) / (after.atMs - before.atMs),
      cpuUs: (1e6 * (after.cpu - before.cpu)) / answered,
      spent,
    };
  } finally {
    await client.terminate();
  }
}

export interface MeasuredRate {
  perSecond: number;
  /** CPU time of all servers per request, in microseconds. */
  cpuUs: number;
  /** Median request duration, in milliseconds. */
  medianMs: number;
}

/** Processes whose CPU time counts. Processes with a URL receive the requests in turn. */
type Paying = Pick<MeasuredServer, 'cpuSeconds'> & { url?: string };

/**
 * Posts rounds of requests over several connections. A round starts once all responses to the
 * previous round have arrived. The first `warmUp` rounds are not measured.
 */
export async function postRate(
  servers: readonly Paying[],
  rounds: Uint8Array[][],
  { connections, warmUp }: { connections: number; warmUp: number },
): Promise<MeasuredRate> {
  const ports = servers.flatMap(({ url }) => (url === undefined ? [] : Number(new URL(url).port)));
  const order: PostsOrder = { ports, connections, rounds };
  const client = new Worker(new URL('./posts-thread.js', import.meta.url), { workerData: order });
  const post = async (posting: Posting) => {
    client.postMessage(posting);
    const [posted] = (await once(client, 'message')) as [PostTimes];
    return posted;
  };
  const paid = async () => {
    const seconds = await Promise.all(servers.map((server) => server.cpuSeconds()));
    return seconds.reduce((sum, one) => sum + one, 0);
  };
  try {
    await once(client, 'message');
    await post({ from: 0, to: warmUp });
    const before = await paid();
    const { milliseconds, each } = await post({ from: warmUp, to: rounds.length });
    const cpuSeconds = (await paid()) - before;
    return {
      perSecond: (1000 * each.length) / milliseconds,
      cpuUs: (1e6 * cpuSeconds) / each.length,
      medianMs: median(each),
    };
  } finally {
    await client.terminate();
  }
}

export interface Subscribers {
  /** Resolves after `deliveries` more events. Call this method before causing the events. */
  delivered(deliveries: number): Promise<void>;
  close(): Promise<void>;
}

export const CONNECTIONS_PER_AGENT = 4;

/**
 * Creates the first messages of each connection to a folkmoot server: authentication and
 * subscription.
 */
export function createGreetings(
  by: readonly Signatory[],
  count: number,
  topic: string,
): string[][] {
  const now = Date.now();
  return Array.from({ length: count }, (_, ordinal) => {
    // Timestamps must be unique, because a server accepts each signed text only once.
    const timestamp = new Date(now - (ordinal % CONNECTIONS_PER_AGENT)).toISOString();
    const one = by[Math.floor(ordinal / CONNECTIONS_PER_AGENT)]!;
    const public_key = one.publicKey;
    const signature = one.sign(authInput(public_key, timestamp));
    return [
      JSON.stringify({ type: 'auth', public_key, timestamp, signature }),
      JSON.stringify({ type: 'subscribe', topics: [topic] }),
    ];
  });
}

/** Opens one connection per greeting. Resolves once all are subscribed. */
export async function subscribe(
  server: MeasuredServer,
  greetings: string[][],
): Promise<Subscribers> {
  const order: SubscribersOrder = {
    port: Number(new URL(server.url).port),
    path: '/ws/v1',
    greetings,
  };
  const url = new URL('./subscribers-thread.js', import.meta.url);
  const thread = new Worker(url, { workerData: order });
  await once(thread, 'message');
  return {
    async delivered(deliveries) {
      const reported = once(thread, 'message');
      thread.postMessage({ deliveries } satisfies Expecting);
      await reported;
    },
    async close() {
      await thread.terminate();
    },
  };
}
