/** Who signs requests in this process: a key pair behind the interface of those that compose. */
import type { Signatory } from '../protocol/compose.js';
import { type KeyPair, sign } from './index.js';

/** A signer for the functions that compose requests, out of a key pair of this process. */
export function signatory(keys: KeyPair): Signatory {
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}
