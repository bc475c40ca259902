/** The bare server of `bench/bare-server.ts`, started and asked. */
import { withForked } from './forked.js';
import type { MeasuredServer } from './server.js';

/** A bare server that answers each GET with `body`, for the work of a case. */
export function withBare<T>(
  body: string,
  work: (server: MeasuredServer) => Promise<T>,
): Promise<T> {
  return withForked('bare-server', [], async (server) => {
    await server.tell({ body });
    return work(server);
  });
}
