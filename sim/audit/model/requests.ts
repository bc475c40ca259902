/** Discussions and alliance requests that were accepted lately: asked again, they are repeats. */
import type { State } from './state.js';

const MEMORY_MS = 600_000;

export function isRemembered({ requests }: State, id: string, at: number): boolean {
  const accepted = requests.get(id);
  return accepted !== undefined && at - accepted <= MEMORY_MS;
}

export function remember({ requests }: State, id: string, at: number): void {
  for (const [old, accepted] of requests) {
    if (at - accepted <= MEMORY_MS) break;
    requests.delete(old);
  }
  requests.set(id, at);
}
