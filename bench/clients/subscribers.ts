/** Many subscribers of one server, in a thread: opened, given what to expect, closed. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Signatory } from '../../engine/internal.js';
import { authInput } from '../../engine/protocol/signing.js';
import type { MeasuredServer } from '../servers/server.js';
import type { Expecting, SubscribersOrder } from './subscribers-thread.js';

export interface Subscribers {
  /** Resolves when so many further events were delivered: ask before they are caused. */
  delivered(deliveries: number): Promise<void>;
  close(): Promise<void>;
}

/** An agent has four connections at most. */
export const CONNECTIONS_PER_AGENT = 4;

/** What a subscriber says first to a server of folkmoot. */
export function greetingsOf(by: readonly Signatory[], count: number, topic: string): string[][] {
  const now = Date.now();
  return Array.from({ length: count }, (_, ordinal) => {
    // A server takes each signed text once.
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

/** Opens one connection for each greeting; resolves when all are subscribed. */
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
