/** What all nodes of a network know, and nobody else. */
import { bounds } from './bounds.js';

/** @throws {TypeError} where it is too short, or has no end. */
export function checkedSecret(text: string): string {
  const secret = text.trim();
  if (secret.length >= bounds.secretCharacters && !/\s/.test(secret)) return secret;
  const expected = `expected at least ${bounds.secretCharacters}, drawn by chance, in one line`;
  throw new TypeError(`a secret of ${secret.length} characters; ${expected}: openssl rand -hex 32`);
}
