/** /api/v1/proof: how far the log is that is recomputed while it is shown. */
import { refuse } from '../../../engine/internal.js';
import type { Handler } from '../handler.js';
import { success } from '../response/envelope.js';

export const proof: Handler = ({ services: { proof: current } }) => {
  if (current) return success(200, current());
  const how = 'folkmoot replay DIR --watch serves what does';
  return { refusal: refuse('UNKNOWN_ROUTE', `nothing is recomputed here; ${how}`) };
};
