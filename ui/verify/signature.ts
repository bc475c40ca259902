/** Whether a signature holds, of texts that anybody may have sent. */
import { verifyWeb } from '../../dist/engine/crypto/verifiers/web.js';

const encoder = new TextEncoder();

/** What is no key or no signature does not hold. */
export async function holds(input: string, key: unknown, signature: unknown): Promise<boolean> {
  if (!isHex(key, 64) || !isHex(signature, 128)) return false;
  const message = encoder.encode(input);
  return verifyWeb({ publicKey: bytesOf(key), message, signature: bytesOf(signature) });
}

const isHex = (text: unknown, characters: number): text is string =>
  typeof text === 'string' && text.length === characters && /^[0-9a-f]+$/i.test(text);

const bytesOf = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
