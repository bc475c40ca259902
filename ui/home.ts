/**
 * The page's home: a server that answers requests, or an exported file that contains the run. The
 * entry point calls `setHome` before any other page code runs.
 */

export interface Place {
  view: string;
  /** Hash or id of the item shown in the view. */
  item: string | null;
  query: URLSearchParams;
}

declare global {
  /** True in an exported file, which leaves out what needs a server. Set by the build. */
  const IN_FILE: boolean;
}

/** Parts that every server has and an exported file may lack. */
export type Requirement = 'server' | 'log' | 'proof';

export interface Home {
  /** Returns null for an address outside this page. */
  placeIn(address: Pick<URL, 'origin' | 'pathname' | 'search'>): Place | null;
  addressOf(place: Place): string;
  /** Starts `ui/<name>/worker.ts`. */
  startWorker(name: string): Worker;
  /** The server's origin, or a whole run as bytes, which are transferred to the worker. */
  source(): string | ArrayBuffer;
  /** @throws {TypeError} when the server is not responding */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Path of the API reference; null if the server has none. */
  docs: string | null;
  /** Text to show in place of a missing part. */
  lacks: Readonly<Partial<Record<Requirement, string>>>;
}

export let home: Home;

export function setHome(one: Home): void {
  home = one;
}

interface Rules {
  createScript?(text: string): string;
  createScriptURL?(url: string): string;
}
interface Factory {
  createPolicy<T extends Rules>(name: string, rules: T): T;
}

/**
 * Creates a Trusted Types policy if the browser supports them. The page's CSP lists the policy
 * name.
 */
export function createTrustedRules<T extends Rules>(name: string, rules: T): T {
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  return trustedTypes?.createPolicy(name, rules) ?? rules;
}
