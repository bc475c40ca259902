/** Keys as text: the JSON that `folkmoot keygen --out` writes. */
import { type AgentKeys, keysFromSeed } from '../../engine/crypto/browser-keys.js';
import { agentId } from '../../engine/protocol/signing.js';

/** The text to keep, secret and all: `{agent_id, public_key, private_key}`. */
export function saveKeys({ publicKey, privateKey }: AgentKeys): string {
  const agent_id = agentId(publicKey);
  return JSON.stringify({ agent_id, public_key: publicKey, private_key: privateKey });
}

/**
 * The keys of a kept text; `public_key` may be left out.
 * @throws {TypeError} when it is not such a text, or its two keys do not belong together.
 */
export function loadKeys(text: string): AgentKeys {
  const { public_key, private_key } = parsed(text);
  if (typeof private_key !== 'string' || !/^[0-9a-fA-F]{64}$/.test(private_key)) {
    throw new TypeError('keys: private_key is not 64 hex characters');
  }
  const keys = keysFromSeed(private_key);
  if (public_key !== undefined && String(public_key).toLowerCase() !== keys.publicKey) {
    throw new TypeError('keys: public_key is not that of private_key');
  }
  return keys;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below: the parser's own words could repeat a piece of the secret.
  }
  throw new TypeError('keys: expected JSON {public_key, private_key}, as keygen --out writes it');
}
