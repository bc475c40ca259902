/** Client addresses behind trusted proxies, and the connection limit per address. */
import { resolveLimits } from '../contract/limit-table.js';
import { Limits } from './limits.js';

export interface ConnectionPolicy {
  /** Connections per address and window; null for unlimited connections. */
  quota: number | null;
  trustedProxies: readonly string[];
}

export class ConnectionLimit {
  readonly #limits: Limits;
  readonly #trusted: ReadonlySet<string>;

  constructor({ quota, trustedProxies }: ConnectionPolicy, steady: () => number) {
    const figures = quota === null ? null : resolveLimits('spec', { connections: quota });
    this.#limits = new Limits('spec', figures, steady);
    this.#trusted = new Set(trustedProxies);
  }

  accepts(peer: string): boolean {
    const address = clientAddress(peer, undefined, none);
    if (this.#trusted.has(address)) return true;
    return 'use' in this.#limits.account(addressKey(address)).take('connections');
  }
}

const none: ReadonlySet<string> = new Set();

/*
 * Determines the client address behind proxies, believing only trusted proxies, and the key under
 * which limits count the address.
 */

/** Normalizes an address, by removing a port and converting IPv4-mapped IPv6 to IPv4. */
function plain(text: string): string {
  const address = withoutPort(text.trim());
  return address.includes(':') ? address.replace(MAPPED, '') : address;
}
const MAPPED = /^(?:0*:)*:?ffff:(?=\d+\.)/i;

/** Removes the port. Some proxies write `1.2.3.4:567`, `[::1]:567` or `[::1]`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed) return bracketed[1]!;
  return /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/**
 * Returns the nearest untrusted address: the peer's, or the rightmost untrusted address in
 * X-Forwarded-For.
 */
export function clientAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  if (trusted.size === 0) return plain(peer);
  const hops = [...(forwarded?.split(',') ?? []).map(plain), plain(peer)];
  let address = hops.pop()!;
  while (trusted.has(address) && hops.length > 0) address = hops.pop()!;
  return address;
}

/**
 * Returns an address's limit key. IPv6 addresses count by /64, because a client owns the whole /64.
 */
export function addressKey(address: string): string {
  if (!address.includes(':')) return `address:${address}`;
  const groups = groupsOf(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) {
    const network = groups.slice(0, 4).map((group) => group.toString(16));
    return `address:${network.join(':')}::/64`;
  }
  const [high = 0, low = 0] = groups.slice(6);
  return `address:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Parses an IPv6 address in any notation into eight groups. */
function groupsOf(address: string): number[] {
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const group = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${group(a, b)}:${group(c, d)}`;
  });
  const [left = '', right] = text.split('::');
  const numbers = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16) || 0);
  const head = numbers(left);
  const tail = right === undefined ? [] : numbers(right);
  return [
    ...head,
    ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0),
    ...tail,
  ];
}
