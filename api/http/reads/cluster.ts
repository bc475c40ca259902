/** /api/v1/cluster: the nodes that keep the network together, as this one sees them. */
import { refuse } from '../../../engine/internal.js';
import type { Handler } from '../handler.js';
import { success } from '../response/envelope.js';

export const cluster: Handler = async ({ services: { cluster: current } }) => {
  if (current) return success(200, await current());
  const how = 'folkmoot serve --cluster makes a process a node of several';
  return { refusal: refuse('UNKNOWN_ROUTE', `one process keeps this network; ${how}`) };
};
