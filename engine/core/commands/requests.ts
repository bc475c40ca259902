/** Discussions and alliance requests have no content id: their signing input is remembered. */
import { limits } from '../../protocol/limits.js';
import type { AllianceThen, RecordOf } from '../../protocol/schema/record.js';
import type { State } from '../state.js';

/** When this very request was accepted, if that is not too long ago. */
export function findRemembered(state: State, requestId: string): RecordOf['requests'] | undefined {
  const first = state.reader.read('requests', requestId);
  return first && state.now - first.at <= limits.requestMemoryMs ? first : undefined;
}

/** `alliance` is what the request made of one. */
export function rememberRequest(state: State, requestId: string, alliance?: AllianceThen): void {
  state.changes.put('requests', requestId, {
    ...(alliance ? { alliance } : {}),
    at: state.now,
  });
}
