/** Reads of what is committed: as it is now or, with `at`, as it was after an entry. */
import { refuse } from '../../../engine/internal.js';
import type { RequestHead } from '../../transport/transport.js';
import type { Handler } from '../handler.js';
import { committed, queryOf } from '../reads/counted.js';
import { badQuery, number } from '../reads/parameters.js';
import { type Read, resultOf } from '../reads/reads.js';
import { success } from '../response/envelope.js';
import { type Showing, shown } from './shown.js';

export function dated(read: Read): Handler {
  const now = committed(read);
  const then = shown(readThen(read), { progressOf: ({ past }) => past?.progress ?? null });
  return (call) => (asksForThen(call.head) ? then : now)(call);
}

const asksForThen = ({ target, path }: RequestHead) =>
  target.length > path.length && queryOf(target).has('at');

const readThen =
  (read: Read): Showing =>
  async ({ services: { past, network }, params }, query) => {
    const at = number(query, 'at', 0);
    if (at === null) return badQuery('at', 'the number of an entry');
    if (!past) return { refusal: refuse('NO_HISTORY', noHistory) };
    const found = await past.at(at);
    if ('reason' in found) return { refusal: found };
    const { epoch } = network;
    const result = await resultOf(read, { network: { epoch, read: found.read }, params, query });
    return 'refusal' in result ? result : success(200, result.data);
  };

const noHistory =
  'this server answers reads of what is now, without `at`; folkmoot explore DIR, beside it or ' +
  'afterwards, answers those of any entry';
