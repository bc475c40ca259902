/** Signatures: valid, and invalid in every possible way. */
import canonicalize from 'canonicalize';
import type { Agent } from '../../support/service/signer.js';
import type { Rng } from './rng.js';

/**
 * Kinds of signatures. `right` is made with a real key over the sent data. The server refuses all
 * other kinds for their signature.
 */
export type Signing = 'right' | 'wrong' | 'other' | 'stale' | 'garbled' | 'none';

/** Returns a signature timestamp, possibly too old. */
export function stampOf(rng: Rng, signing: Signing): string {
  const off = signing === 'stale' ? rng.pick([-1, 1]) * (310_000 + rng.int(9e8)) : 0;
  return new Date(Date.now() + off).toISOString();
}

export function signatureOf(rng: Rng, by: Agent, text: string, signing: Signing): string {
  if (signing === 'garbled') return rng.pick(garbledSignatures)(rng);
  if (signing === 'other') return rng.hex(128);
  return by.sign(signing === 'wrong' ? `${text}\n` : text);
}

const garbledSignatures: readonly ((rng: Rng) => string)[] = [
  (rng) => rng.hex(127),
  (rng) => rng.hex(130),
  (rng) => `0x${rng.hex(128)}`,
  () => '',
  () => '0'.repeat(128),
  () => 'z'.repeat(128),
  (rng) => rng.bytes(64).toString('base64'),
];

export function signInside(
  rng: Rng,
  fields: Record<string, unknown>,
  prefix: string,
  by: Agent,
  signing: Signing,
): void {
  if ('timestamp' in fields && signing === 'stale') fields.timestamp = stampOf(rng, signing);
  const { signature: _, ...rest } = fields;
  if (signing === 'none') delete fields.signature;
  else if ('signature' in fields) {
    const text = `agentnet-v1-${prefix}\n${jcs(rest)}`;
    fields.signature = signatureOf(rng, by, text, signing);
  }
}

/**
 * Encodes a value canonically. Returns '' if the value has no canonical form, such as a lone
 * surrogate.
 */
function jcs(value: unknown): string {
  try {
    return canonicalize(value) ?? '';
  } catch {
    return '';
  }
}
