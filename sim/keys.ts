/** The keys of scripted agents, derived from the seed: the same run signs the same bytes. */
import { type KeyPair, keyPairFromSeed, type Signatory, sign } from '../engine/index.js';
import { sha256Hex } from '../engine/signing.js';

/** Hex. */
export const secretOf = (seed: string, ordinal: number) =>
  sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`);

export function signatoryOf(seed: string, ordinal: number): Signatory {
  return signatory(keyPairFromSeed(Buffer.from(secretOf(seed, ordinal), 'hex')));
}

export function signatory(keys: KeyPair): Signatory {
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}

const NO_SIGNATURE = '0'.repeat(128);

/** For networks without signatures: a name in the place of a key, and nothing signed. */
export function unsignedSignatoryOf(seed: string, ordinal: number): Signatory {
  const unsigned = NO_SIGNATURE;
  return { publicKey: secretOf(seed, ordinal), sign: () => unsigned, unsigned };
}
