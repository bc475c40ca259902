/**
 * Signatures that an agent was charged for, for as long as they are fresh: whoever captured one can
 * send it again, but it costs the agent nothing more. What they cover cannot be changed with them.
 */
import { limits as bounds } from '../../engine/internal.js';

/** A timestamp may be as far in the future as in the past. */
const FRESH_MS = 2 * bounds.skewMs;
/** Of one agent in one generation: above what the profile `spec` lets it send in that time. */
const MOST_OF_AGENT = 2_048;
const MOST = 131_072;

type Generation = Map<string, Set<string>>;

export class ChargedSignatures {
  readonly #now: () => number;
  /** Signatures by key; the older half is kept until all of it is past its time. */
  #young: Generation = new Map();
  #old: Generation = new Map();
  #count = 0;
  #since: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  has(publicKey: string, signature: string): boolean {
    this.#turn();
    const text = packed(signature);
    return !!(this.#young.get(publicKey)?.has(text) || this.#old.get(publicKey)?.has(text));
  }

  add(publicKey: string, signature: string): void {
    this.#turn();
    const known = this.#young.get(publicKey) ?? new Set<string>();
    if (known.size >= MOST_OF_AGENT) return;
    this.#young.set(publicKey, known.add(packed(signature)));
    this.#count += 1;
  }

  /** When all of the younger half may be past its time, or there are too many. */
  #turn(): void {
    const now = this.#now();
    if (now - this.#since < FRESH_MS && this.#count < MOST) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#since = now;
    this.#count = 0;
  }
}

/** Hex in either case as a text of half its length. */
const packed = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
