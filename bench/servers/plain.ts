/** The plain server of `bench/plain-server.ts`, started in a temporary folder. */
import { withFolder } from '../fixtures/network.js';
import { withForked } from './forked.js';
import type { MeasuredServer } from './server.js';

export function withPlain<T>(
  networkId: string,
  work: (server: MeasuredServer) => Promise<T>,
): Promise<T> {
  return withFolder((path) => withForked('plain-server', [path, networkId], work));
}
