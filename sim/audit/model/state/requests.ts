/** Discussions and alliance requests that were accepted lately: asked again, they are repeats. */
import type { State } from './state.js';

const MEMORY_MS = 600_000;

/** What the same request was answered, if that is not too long ago. */
export function answerBefore({ requests }: State, id: string, at: number): object | null {
  const first = requests.get(id);
  return first && at - first.at <= MEMORY_MS ? first.answer : null;
}

export function remember(
  { requests }: State,
  id: string,
  { at, answer }: { at: number; answer: object },
): void {
  for (const [old, first] of requests) {
    if (at - first.at <= MEMORY_MS) break;
    requests.delete(old);
  }
  requests.set(id, { at, answer });
}
