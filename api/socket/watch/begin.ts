/** Whether a connection may watch: as whom nobody asks, so only by where it comes from. */
import { type ErrorCode, type Reason, type Refusal, refuse } from '../../../engine/internal.js';
import { type ClientMessage, type closeCodes, watchLimits } from '../../contract/channels.js';
import type { Socket } from '../../transport/transport.js';
import type { Watcher, Watchers } from './watchers.js';

interface Refused {
  refusal: Refusal;
  end: keyof typeof closeCodes;
}

/** `onEnd` is for when nothing more can be shown. */
export function beginWatching(
  watchers: Watchers | null,
  socket: Socket,
  { since, every_ms, unknown }: ClientMessage['watch'] & { unknown?: readonly string[] },
  onEnd: () => void,
): Watcher | Refused {
  if (!watchers) {
    const message = 'this server lets nobody watch without a key; expected auth, then subscribe';
    return { refusal: refuse('NO_WATCH', message), end: 'notWatched' };
  }
  if (!watchers.takes(socket.addressKey)) {
    const quota = watchLimits.perAddress;
    const message = `${quota} connections of an address may watch; close one, or try again later`;
    const details = { limit: 'watchers', quota };
    return { refusal: refuse('QUOTA_USED', message, { details }), end: 'crowded' };
  }
  const everyMs = every_ms ?? watchLimits.everyMs;
  const watcher: Watcher = { socket, everyMs, cursor: -1, dueAt: 0, onEnd };
  watchers.add(watcher, since, unknown);
  return watcher;
}

/** What a connection is told that is used for both. */
type Told = [ErrorCode, Reason, string];
export const authenticatedAlready: Told = [
  'INVALID_REQUEST',
  'SCHEMA',
  'this connection is authenticated already; to watch, open another',
];
export const watchesOnly: Told = [
  'INVALID_REQUEST',
  'SCHEMA',
  'this connection watches, and takes a ping only; for more, open another',
];
