/**
 * A watch at one member, from creation until it ends. Events arrive in revision order. The client
 * requests progress periodically, because a connection to a stopped machine stays open. A watch
 * does not restart by itself. The caller knows the last revision that it read, and continues from
 * that revision.
 */
import type { ClientDuplexStream, ServiceError } from './bundled/grpc.js';
import type { Member } from './member.js';
import { type Keys, type KeyValue, toKeyValue, toRange } from './values.js';
import { EtcdError, toEtcdError, type WatchResponse } from './wire.js';

export interface WatchOptions {
  /** First revision to deliver. Default: from now on. */
  from?: number;
  /** Ends the watch without delivering a further batch. */
  signal?: AbortSignal;
}

/** A changed key. For a deleted key, only `key` and `modRevision` are meaningful. */
export interface WatchEvent extends KeyValue {
  type: 'put' | 'delete';
}

/**
 * A batch of events. The first batch is empty and confirms the watch. A revision may be split
 * across two batches, and etcd 3.4 may repeat an event, so compare `modRevision` and `version`.
 */
export interface WatchBatch {
  endpoint: string;
  /** Latest revision known to the member. */
  revision: number;
  events: WatchEvent[];
}

/** Interval of progress requests, and the number that may stay unanswered. */
const SIGNS = { everyMs: 500, inVain: 3 } as const;

/**
 * @throws {EtcdError} `compacted`, with the oldest revision available; `unavailable` if the watch
 *   ended. The events delivered so far are valid.
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
      assertGoesOn(next.value, member.endpoint);
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
  if (!signal?.aborted) {
    throw new EtcdError('WATCH_CANCELED', { endpoint: member.endpoint, reason: 'stream ended' });
  }
}

/**
 * Sends progress requests, and counts the unanswered ones. Measures no time, because a process that
 * was blocked for a long time has sent only one request meanwhile.
 */
class Signs {
  readonly #timer: NodeJS.Timeout;
  #waiting = false;
  #inVain = 0;

  constructor(stream: ClientDuplexStream<object, WatchResponse>, endpoint: string) {
    this.#timer = setInterval(() => {
      if (this.#waiting) this.#inVain += 1;
      if (this.#inVain > SIGNS.inVain) {
        // Destroys the stream rather than racing a pending promise, which would retain every event
        // ever received.
        stream.destroy(new EtcdError('WATCH_SILENT', { endpoint }, { member: 'silent' }));
      } else stream.write({ progress_request: {} });
    }, SIGNS.everyMs);
  }

  /** Awaits the next message. The stream fails if no progress arrives meanwhile. */
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

function assertGoesOn(
  { canceled, compact_revision, cancel_reason }: WatchResponse,
  at: string,
): void {
  if (!canceled) return;
  const compactRevision = Number(compact_revision);
  if (compactRevision > 0) {
    const values = { endpoint: at, revision: compactRevision };
    throw new EtcdError('WATCH_COMPACTED', values, { compactRevision });
  }
  throw new EtcdError('WATCH_CANCELED', { endpoint: at, reason: cancel_reason });
}

const batchOf = ({ header, events }: WatchResponse, endpoint: string): WatchBatch => ({
  endpoint,
  revision: Number(header.revision),
  events: events.map(({ type, kv }) => ({
    type: type === 'PUT' ? 'put' : 'delete',
    ...toKeyValue(kv),
  })),
});
