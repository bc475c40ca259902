/** /api/v1/load: what its readers know already; where a network is served, there is no load run. */
import { type Refusal, refuse } from '../../../engine/internal.js';
import type { RequestHead } from '../../transport/transport.js';
import type { Handler } from '../handler.js';
import { queryOf } from './counted.js';
import { badQuery, number } from './parameters.js';

/** The version that a reader knows; null for who knows none. */
export function versionKnown({
  target,
}: Pick<RequestHead, 'target'>): { after: number | null } | { refusal: Refusal } {
  const query = queryOf(target);
  if (!query.has('after')) return { after: null };
  const after = number(query, 'after', 0);
  return after === null ? badQuery('after', 'a whole number') : { after };
}

export const load: Handler = ({ head }) => {
  const known = versionKnown(head);
  if ('refusal' in known) return known;
  const how = 'folkmoot load --watch serves what does';
  return { refusal: refuse('UNKNOWN_ROUTE', `no load run is shown here; ${how}`) };
};
