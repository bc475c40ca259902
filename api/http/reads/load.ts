/** /api/v1/load where a network is served: there is no load run to be shown. */
import { refuse } from '../../../engine/internal.js';
import type { Handler } from '../handler.js';

export const load: Handler = () => {
  const how = 'folkmoot load --watch serves what does';
  return { refusal: refuse('UNKNOWN_ROUTE', `no load run is shown here; ${how}`) };
};
