/** The keys of scripted agents, derived from the seed: the same run signs the same bytes. */
import { type KeyPair, keyPairFromSeed, type Signatory, sign } from '../engine/index.js';
import { sha256Hex } from '../engine/signing.js';

export function signatoryOf(seed: string, ordinal: number): Signatory {
  const secret = Buffer.from(sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`), 'hex');
  return signatory(keyPairFromSeed(secret));
}

export function signatory(keys: KeyPair): Signatory {
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}
