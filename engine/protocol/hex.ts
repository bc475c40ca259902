/** Keys, signatures and hashes as text: hex in either case. */
import { lowerAscii } from './unicode/unicode.js';

/** The pattern of so many hex characters, as schemas have it. */
export const hexPattern = (characters: number) => `^[0-9a-fA-F]{${characters}}$`;

/**
 * A text of so many hex characters in lower case; null where it is none. A loop: the code that a
 * pattern of 64 becomes is so long that a run has to fetch it from afar each time.
 */
function lowerHex(text: string, characters: number): string | null {
  if (text.length !== characters) return null;
  let capitals = false;
  for (let index = 0; index < characters; index += 1) {
    const code = text.charCodeAt(index);
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66)) continue;
    if (code < 0x41 || code > 0x46) return null;
    capitals = true;
  }
  return capitals ? lowerAscii(text) : text;
}

/** The same. What was asked last is not looked at again. */
function remembering(characters: number): (text: string) => string | null {
  let last = '';
  let lower: string | null = null;
  return (text) => {
    if (text !== last) lower = lowerHex(text, characters);
    last = text;
    return lower;
  };
}

/** A public key in lower case. A request's is looked at by its head, body and credentials. */
export const lowerKey = remembering(64);
/** A sha256 looks as a key does, but one block is named by many votes. */
export const lowerHash = remembering(64);
/** Where nothing is signed, all of them are alike. */
const lowerSignature = remembering(128);

export const isPublicKey = (text: string): boolean => lowerKey(text) !== null;
export const isHash = (text: string): boolean => lowerHash(text) !== null;
export const isSignature = (text: string): boolean => lowerSignature(text) !== null;
