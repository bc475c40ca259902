/** How fast servers take signed requests, and what their processes pay for each. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { median } from '../raw/measure.js';
import type { MeasuredServer } from '../servers/server.js';
import type { Posted, Posting, PostsOrder } from './posts-thread.js';

export interface Taken {
  perSecond: number;
  /** CPU time of all servers for each request, microseconds. */
  cpuUs: number;
  /** The median of what each request took, milliseconds. */
  medianMs: number;
}

/** What pays for the requests; those that have a URL are asked, in turn. */
type Paying = Pick<MeasuredServer, 'cpuSeconds'> & { url?: string };

/**
 * Posts rounds of requests, each round when the one before it is answered, over so many
 * connections; the first `warmUp` rounds are not measured.
 */
export async function postRate(
  servers: readonly Paying[],
  rounds: Uint8Array[][],
  { connections, warmUp }: { connections: number; warmUp: number },
): Promise<Taken> {
  const ports = servers.flatMap(({ url }) => (url === undefined ? [] : Number(new URL(url).port)));
  const order: PostsOrder = { ports, connections, rounds };
  const client = new Worker(new URL('./posts-thread.js', import.meta.url), { workerData: order });
  const post = async (posting: Posting) => {
    client.postMessage(posting);
    const [posted] = (await once(client, 'message')) as [Posted];
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
