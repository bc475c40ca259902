/**
 * Duplicate detection for discussions and alliance requests. These requests have no content id, so
 * the hash of the signing input is stored.
 */
import { limits } from '../../protocol/limits.js';
import type { AllianceThen, RecordOf } from '../../protocol/schema/record.js';
import type { State } from '../state.js';

/** Returns the stored request if it was accepted within `limits.requestMemoryMs`. */
export function findRemembered(state: State, requestId: string): RecordOf['requests'] | undefined {
  const first = state.reader.read('requests', requestId);
  return first && state.now - first.at <= limits.requestMemoryMs ? first : undefined;
}

/** `alliance` is the alliance after the request. */
export function rememberRequest(state: State, requestId: string, alliance?: AllianceThen): void {
  state.changes.put('requests', requestId, {
    ...(alliance ? { alliance } : {}),
    at: state.now,
  });
}
