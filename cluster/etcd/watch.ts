/**
 * One watch at one member, from its creation until it is cut: events in the order of revisions.
 * It asks the member for a sign of life all the while, since a connection to a machine that has
 * stopped stays open. It never begins anew by itself: who has read up to a revision knows where to
 * go on.
 */
import type { ClientDuplexStream, ServiceError } from './bundled/grpc.js';
import type { Member } from './member.js';
import { type Keys, type KeyValue, toKeyValue, toRange } from './values.js';
import { EtcdError, toEtcdError, type WatchResponse } from './wire.js';

export interface WatchOptions {
  /** The first revision whose events are wanted; left out, those from now on. */
  from?: number;
  /** Ends the watch: what waits for its next batch gets none. */
  signal?: AbortSignal;
}

/** Of a key that was deleted only `key` and `modRevision` mean something. */
export interface WatchEvent extends KeyValue {
  type: 'put' | 'delete';
}

/**
 * The first one has no events: it says that the watch stands. What happened in one revision may
 * come in two batches, and etcd 3.4 may send an event twice: `modRevision` and `version` tell.
 */
export interface WatchBatch {
  endpoint: string;
  /** Of the whole etcd, as this member knew it. */
  revision: number;
  events: WatchEvent[];
}

/** How often a sign of life is asked for, and how often in vain. */
const SIGNS = { everyMs: 500, inVain: 3 } as const;

/**
 * @throws {EtcdError} `compacted`, with the revision from which on all is there; `unavailable` when
 * the watch was cut: nothing that came before is in doubt.
 */
export async function* watchAt(
  member: Member,
  keys: Keys,
  { from = 0, signal }: WatchOptions,
  connectMs: number,
): AsyncGenerator<WatchBatch, void, undefined> {
  const stream = await member.stream('Watch/Watch', { connectMs });
  const cancel = () => stream.cancel();
  signal?.addEventListener('abort', cancel);
  const signs = new Signs(stream, member.endpoint);
  const create = { ...toRange(keys), start_revision: from, fragment: true };
  stream.write({ create_request: create });
  try {
    const incoming = stream[Symbol.asyncIterator]() as AsyncIterator<WatchResponse>;
    while (!signal?.aborted) {
      const next = await signs.before(incoming.next());
      if (next.done) break;
      refuseEnd(next.value, member.endpoint);
      const batch = batchOf(next.value, member.endpoint);
      if (next.value.created || batch.events.length > 0) yield batch;
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error instanceof EtcdError ? error : toEtcdError(error as ServiceError, member.endpoint);
  } finally {
    signs.end();
    signal?.removeEventListener('abort', cancel);
    stream.cancel();
  }
  if (!signal?.aborted)
    throw new EtcdError('unavailable', `etcd at ${member.endpoint} ended a watch`);
}

/** Signs of life, counted: a process that was busy for long has asked for one only. */
class Signs {
  readonly #timer: NodeJS.Timeout;
  #waiting = false;
  #inVain = 0;

  constructor(stream: ClientDuplexStream<object, WatchResponse>, endpoint: string) {
    this.#timer = setInterval(() => {
      if (this.#waiting) this.#inVain += 1;
      if (this.#inVain > SIGNS.inVain) {
        const message = `etcd at ${endpoint} gives no sign of life on a watch`;
        // In place of a race with a promise that stays open: it would keep all that ever came.
        stream.destroy(new EtcdError('unavailable', message, { member: 'silent' }));
      } else stream.write({ progress_request: {} });
    }, SIGNS.everyMs);
  }

  /** The same, counted as waiting; the stream ends by an error when no sign of life comes. */
  async before<T>(awaited: Promise<T>): Promise<T> {
    this.#waiting = true;
    this.#inVain = 0;
    try {
      return await awaited;
    } finally {
      this.#waiting = false;
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function refuseEnd({ canceled, compact_revision, cancel_reason }: WatchResponse, at: string): void {
  if (!canceled) return;
  const compactRevision = Number(compact_revision);
  if (compactRevision > 0) {
    const what = `etcd at ${at} has nothing from before revision ${compactRevision} any more`;
    throw new EtcdError('compacted', what, { compactRevision });
  }
  throw new EtcdError('unavailable', `etcd at ${at} ended a watch: ${cancel_reason}`);
}

const batchOf = ({ header, events }: WatchResponse, endpoint: string): WatchBatch => ({
  endpoint,
  revision: Number(header.revision),
  events: events.map(({ type, kv }) => ({
    type: type === 'PUT' ? 'put' : 'delete',
    ...toKeyValue(kv),
  })),
});
