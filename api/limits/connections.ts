/**
 * The address of a client behind trusted proxies, and the number of connections that one address
 * may have.
 */
import { resolveLimits } from '../contract/limit-table.js';
import { Limits } from './limits.js';

/** What it is made of. */
export interface ConnectionPolicy {
  /** How many of one address in the time of that limit; null: no limit. */
  quota: number | null;
  trustedProxies: readonly string[];
}

export class ConnectionLimit {
  readonly #take: (subject: string) => boolean;
  readonly #trusted: ReadonlySet<string>;

  /** `take` uses the quota of a subject once, if that is left. */
  constructor(trustedProxies: readonly string[], take: (subject: string) => boolean) {
    this.#take = take;
    this.#trusted = new Set(trustedProxies);
  }

  accepts(peer: string): boolean {
    const address = clientAddress(peer, undefined, none);
    return this.#trusted.has(address) || this.#take(addressKey(address));
  }
}

/** That of a process which has all connections itself. */
export function ownConnectionLimit(
  { quota, trustedProxies }: ConnectionPolicy,
  steady: () => number,
): ConnectionLimit {
  const figures = quota === null ? null : resolveLimits('spec', { connections: quota });
  const limits = new Limits('spec', figures, steady);
  return new ConnectionLimit(
    trustedProxies,
    (key) => 'use' in limits.account(key).take('connections'),
  );
}

const none: ReadonlySet<string> = new Set();

/*
 * Whose request it is: the address that counts where proxies stand in between, of which only
 * trusted ones are believed, and the key that limits count it by.
 */

/** As a socket shows it: an IPv4 address inside IPv6 is that IPv4 address; a port is left out. */
function plain(text: string): string {
  const address = withoutPort(text.trim());
  return address.includes(':') ? address.replace(MAPPED, '') : address;
}
const MAPPED = /^(?:0*:)*:?ffff:(?=\d+\.)/i;

/** `1.2.3.4:567`, `[::1]:567` and `[::1]` are how some proxies write addresses. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed) return bracketed[1]!;
  return /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/**
 * The nearest address that is no trusted proxy: the peer's own, or that of X-Forwarded-For from the
 * right, for as long as each is trusted.
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

/** An IPv6 address counts by its /64: whoever has one address there has all of them. */
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

/** The eight numbers of an IPv6 address, whichever way it is written. */
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
