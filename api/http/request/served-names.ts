/**
 * The names a server answers to. A foreign web page can make its own name mean this machine (DNS
 * rebinding), and its browser then takes the server for that page's: the Host header shows it.
 */
import { isIP } from 'node:net';
import { hostname } from 'node:os';

const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::\d{0,5})?$/;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

export class ServedNames {
  readonly #names: ReadonlySet<string>;
  /** Nearly all requests name the same one. */
  #last = '';

  /** @throws where one is not a name. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', hostname().toLowerCase(), ...names.map(servedName)]);
  }

  /**
   * Whether a Host header names this server. Any address does, for it cannot be rebound; so does
   * none at all, which no browser sends.
   */
  has(host: string | undefined): boolean {
    if (host === undefined || host === this.#last) return true;
    const name = nameOf(host);
    if (name === null || !(this.#names.has(name) || isIP(name) !== 0)) return false;
    this.#last = host;
    return true;
  }
}

/**
 * The name itself, in lower case, where it is one to be served under.
 *
 * @throws {Error} where it is none.
 */
export function servedName(text: string): string {
  const name = nameOf(text);
  if (name !== null && text.toLowerCase() === name) return name;
  const expected = 'expected a host name without scheme, port or path, as in network.example';
  throw new Error(`${JSON.stringify(text)} is not a name to be served under; ${expected}`);
}

/** The name or address in a Host header, in lower case and without brackets; null for neither. */
function nameOf(host: string): string | null {
  const found = HOST.exec(host)?.[1]?.toLowerCase();
  if (found === undefined) return null;
  const name = found.startsWith('[') ? found.slice(1, -1) : found.replace(/\.$/, '');
  return isIP(name) !== 0 || NAME.test(name) ? name : null;
}
