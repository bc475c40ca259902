/** How many connections of an address are taken; those of a trusted proxy always. */
import { figuresOf } from '../contract/limit-table.js';
import { addressKey, clientAddress } from './client-address.js';
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
  const figures = quota === null ? null : figuresOf('spec', { connections: quota });
  const limits = new Limits('spec', figures, steady);
  return new ConnectionLimit(trustedProxies, (key) => 'use' in limits.take('connections', key));
}

const none: ReadonlySet<string> = new Set();
