/**
 * The home of the page: a server, or a file that holds all that the page shows. An entry point sets
 * it by `setHome` before anything else runs.
 */

/** Where the page lives: at a server that answers it, or in a file that holds all that it shows. */
/** Where the reader is: a view, a thing in it, and the position. */
export interface Place {
  view: string;
  /** What it shows: a hash, an id. */
  item: string | null;
  query: URLSearchParams;
}

/** What a page has at a server, and may lack elsewhere: a server that acts, the log, its proof. */
export type Requirement = 'server' | 'log' | 'proof';

export interface Home {
  /** The place that an address names; null for one that is not of this page. */
  placeIn(address: Pick<URL, 'origin' | 'pathname' | 'search'>): Place | null;
  addressOf(place: Place): string;
  /** Of the folder of that name: `ui/<name>/worker.ts`. */
  startWorker(name: string): Worker;
  /** What the player has its network from: an origin, or a whole run as bytes, given away. */
  source(): string | ArrayBuffer;
  /** What a server answers to a request for a path. @throws {TypeError} when nobody answers */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** The documents of the interface, where somebody serves them. */
  docs: string | null;
  /** Words for the reader where it lacks something, to stand in its place. */
  lacks: Readonly<Partial<Record<Requirement, string>>>;
}

export let home: Home;

/** Once, before anything else of the page runs. */
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

/** The rules, as the browser keeps them where it can. The page's policy knows the name. */
export function createTrustedRules<T extends Rules>(name: string, rules: T): T {
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  return trustedTypes?.createPolicy(name, rules) ?? rules;
}
