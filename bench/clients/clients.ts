/**
 * Clients that measure a server, each in its own thread: GET requests, signed requests, and
 * subscribers. The first two clients also report the server's CPU time per request.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Signatory } from '../../engine/protocol/compose.js';
import { authInput } from '../../engine/protocol/signing.js';
import type { MeasuredServer } from '../servers/child-server.js';
import type { GetCount, GetOrder } from './get-thread.js';
import type { Posting, PostsOrder, PostTimes } from './posts-thread.js';
import type { Expecting, SubscribersOrder } from './subscribers-thread.js';

export interface MeasuredRate {
  perSecond: number;
  /** Server CPU time per response, in microseconds, independent of the client. */
  cpuUs: number;
}

const CONNECTIONS = 64;
const WARM_UP_MS = 500;

export async function getRate(
  server: MeasuredServer,
  path: string,
  seconds: number,
): Promise<MeasuredRate> {
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
    await sleep(1000 * seconds);
    const after = await count();
    const answered = after.answered - before.answered;
    if (answered === 0) throw new Error(`no response from ${server.url}${path}`);
    return {
      perSecond: (1000 * answered) / (after.atMs - before.atMs),
      cpuUs: (1e6 * (after.cpu - before.cpu)) / answered,
    };
  } finally {
    await client.terminate();
  }
}

/**
 * Posts rounds of requests over several connections. A round starts once all responses to the
 * previous round have arrived. The first `warmUp` rounds are not measured.
 */
export async function postRate(
  server: MeasuredServer,
  rounds: Uint8Array[][],
  { connections, warmUp }: { connections: number; warmUp: number },
): Promise<MeasuredRate> {
  const order: PostsOrder = { port: Number(new URL(server.url).port), connections, rounds };
  const client = new Worker(new URL('./posts-thread.js', import.meta.url), { workerData: order });
  const post = async (posting: Posting) => {
    client.postMessage(posting);
    const [posted] = (await once(client, 'message')) as [PostTimes];
    return posted;
  };
  try {
    await once(client, 'message');
    await post({ from: 0, to: warmUp });
    const before = await server.cpuSeconds();
    const { milliseconds, requests } = await post({ from: warmUp, to: rounds.length });
    const cpuSeconds = (await server.cpuSeconds()) - before;
    return { perSecond: (1000 * requests) / milliseconds, cpuUs: (1e6 * cpuSeconds) / requests };
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
