/**
 * Agents that sent a valid signature from an address recently. The limit on refused requests does
 * not apply to them, so that other clients of the address cannot lock them out.
 */

import { limits as bounds } from '../../engine/protocol/limits.js';

/** Time for which a valid signature counts, and the interval at which the time is renewed. */
const PROVEN_MS = 86_400_000;
const REFRESH_MS = 60_000;
/** Most recent addresses of an agent, and most recent agents. */
const MOST_ADDRESSES = 4;
const MOST_AGENTS = 65_536;

export class ProvenAddresses {
  /** Times of valid signatures, by key and address, oldest first. */
  readonly #times = new Map<string, Map<string, number>>();

  /** @param now time of the request on the monotonic clock. */
  has(publicKey: string, address: string, now: number): boolean {
    return this.#ageMs(publicKey, address, now) < PROVEN_MS;
  }

  /** Records a valid signature. A replayed signature proves nothing. */
  add(publicKey: string, address: string, now: number): void {
    if (this.#ageMs(publicKey, address, now) < REFRESH_MS) return;
    const times = this.#times.get(publicKey) ?? new Map<string, number>();
    setLast(times, address, now, MOST_ADDRESSES);
    setLast(this.#times, publicKey, times, MOST_AGENTS);
  }

  #ageMs(publicKey: string, address: string, now: number): number {
    const at = this.#times.get(publicKey)?.get(address);
    return at === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - at);
  }
}

/** Sets the last entry of a map, and removes the first entries beyond `most`. */
function setLast<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

/*
 * Signatures already charged to their agent, kept as long as they are fresh. A replay of a captured
 * signature costs the agent nothing, and cannot cover different content.
 */

/** Timestamps may deviate by the allowed skew into the past or the future. */
const FRESH_MS = 2 * bounds.skewMs;
/** Maximum per agent and generation; exceeds the number that `spec` allows in that time. */
const MOST_OF_AGENT = 2_048;
const MOST = 131_072;

type Generation = Map<string, Set<string>>;

export class ChargedSignatures {
  /** Signatures by key. The old generation is dropped when all of its signatures have expired. */
  #young: Generation = new Map();
  #old: Generation = new Map();
  #count = 0;
  #since: number;

  /** @param now time on the monotonic clock, as in the other methods. */
  constructor(now: number) {
    this.#since = now;
  }

  has(publicKey: string, signature: string, now: number): boolean {
    this.#turn(now);
    const text = packed(signature);
    return !!(this.#young.get(publicKey)?.has(text) || this.#old.get(publicKey)?.has(text));
  }

  add(publicKey: string, signature: string, now: number): void {
    this.#turn(now);
    const known = this.#young.get(publicKey) ?? new Set<string>();
    if (known.size >= MOST_OF_AGENT) return;
    this.#young.set(publicKey, known.add(packed(signature)));
    this.#count += 1;
  }

  /** Starts a new generation when the young generation may have expired or is full. */
  #turn(now: number): void {
    if (now - this.#since < FRESH_MS && this.#count < MOST) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#since = now;
    this.#count = 0;
  }
}

/** Packs hex into half the length, ignoring case. */
const packed = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
