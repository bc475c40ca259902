/** How fast a server takes signed requests, and what its process pays for each. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { MeasuredServer } from '../servers/server.js';
import type { Posted, Posting, PostsOrder } from './posts-thread.js';

export interface Taken {
  perSecond: number;
  /** CPU time of the server for each request, microseconds. */
  cpuUs: number;
}

/**
 * Posts rounds of requests, each round when the one before it is answered, over so many
 * connections; the first `warmUp` rounds are not measured.
 */
export async function postRate(
  server: MeasuredServer,
  rounds: Uint8Array[][],
  { connections, warmUp }: { connections: number; warmUp: number },
): Promise<Taken> {
  const order: PostsOrder = { port: Number(new URL(server.url).port), connections, rounds };
  const client = new Worker(new URL('./posts-thread.js', import.meta.url), { workerData: order });
  const post = async (posting: Posting) => {
    client.postMessage(posting);
    const [posted] = (await once(client, 'message')) as [Posted];
    return posted.milliseconds / 1000;
  };
  try {
    await once(client, 'message');
    await post({ from: 0, to: warmUp });
    const before = await server.cpuSeconds();
    const seconds = await post({ from: warmUp, to: rounds.length });
    const paid = (await server.cpuSeconds()) - before;
    const count = rounds.slice(warmUp).flat().length;
    return { perSecond: count / seconds, cpuUs: (1e6 * paid) / count };
  } finally {
    await client.terminate();
  }
}
