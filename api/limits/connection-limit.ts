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
  readonly #limits: Limits;
  readonly #trusted: ReadonlySet<string>;

  constructor({ quota, trustedProxies }: ConnectionPolicy, steady: () => number) {
    const figures = quota === null ? null : figuresOf('spec', { connections: quota });
    this.#limits = new Limits('spec', figures, steady);
    this.#trusted = new Set(trustedProxies);
  }

  accepts(peer: string): boolean {
    const address = clientAddress(peer, undefined, none);
    if (this.#trusted.has(address)) return true;
    return 'use' in this.#limits.take('connections', addressKey(address));
  }
}

const none: ReadonlySet<string> = new Set();
