/** How many GET requests a second a server answers, and what its process pays for each. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { MeasuredServer } from '../servers/server.js';
import { type ByThread, watchThreads } from '../servers/threads.js';
import type { GetCount, GetOrder } from './get-thread.js';

export interface Answering {
  perSecond: number;
  /** CPU time of the server for each answer, microseconds: no client can distort it. */
  cpuUs: number;
  /** How many were answered while it was measured, and what the threads worked meanwhile. */
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
    await pause(WARM_UP_MS);
    const before = await count();
    const threads = watchThreads(server.pid, 0);
    await pause(1000 * seconds);
    const after = await count();
    const answered = after.answered - before.answered;
    const spent = { answers: answered, threads: threads() };
    if (answered === 0) throw new Error(`${server.url}${path} was not answered`);
    return {
      perSecond: (1000 * answered) / (after.atMs - before.atMs),
      cpuUs: (1e6 * (after.cpu - before.cpu)) / answered,
      spent,
    };
  } finally {
    await client.terminate();
  }
}
