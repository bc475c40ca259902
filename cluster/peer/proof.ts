/**
 * How nodes know each other: both prove that they have the secret, and neither sends it. What is
 * asked is bound to where it is asked, so that nobody can pass a proof on to another node; what is
 * answered is bound to what was asked.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { bounds } from './bounds.js';

/** What a node asks a peer with. */
export interface Asking {
  network: string;
  /** The peer's address, as its card has it. */
  to: string;
  node: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Drawn for this request. */
  nonce: string;
}

/** Names of the headers by which both sides know each other. */
export const headers = {
  asking: 'folkmoot-peer',
  snapshot: 'folkmoot-snapshot',
  proof: 'folkmoot-proof',
} as const;

/** Hex. */
export const proofOfAsking = (secret: string, { network, to, node, at, nonce }: Asking): string =>
  mac(secret, ['folkmoot asks for a snapshot', network, to, node, String(at), nonce]);

/** Of a snapshot's description, for whoever drew the nonce; hex. */
export const proofOfAnswer = (secret: string, nonce: string, description: string): string =>
  mac(secret, ['folkmoot gives a snapshot', nonce, description]);

/** Takes as long whatever differs. */
export function isSame(proof: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [own, other] = [Buffer.from(proof), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

function mac(secret: string, parts: readonly string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
}

/** Each proof of a request holds once. */
export class Proofs {
  readonly #used = new Map<string, number>();

  /** Notes it; false where it was used before, or too many are remembered. */
  use(nonce: string, at: number): boolean {
    const now = Date.now();
    for (const [old, until] of this.#used) if (until < now) this.#used.delete(old);
    if (this.#used.has(nonce) || this.#used.size >= bounds.proofs) return false;
    this.#used.set(nonce, at + bounds.proofMs);
    return true;
  }
}
