/** The keys of scripted agents, derived from the seed: the same run signs the same bytes. */
import { keyPairFromSeed, type Signatory, signatory } from '../../engine/internal.js';
import { sha256Hex } from '../../engine/protocol/signing.js';

/** Hex. */
export const secretOf = (seed: string, ordinal: number) =>
  sha256Hex(`folkmoot-sim-key\n${seed}\n${ordinal}`);

export function signatoryOf(seed: string, ordinal: number): Signatory {
  return signatory(keyPairFromSeed(Buffer.from(secretOf(seed, ordinal), 'hex')));
}

const NO_SIGNATURE = '0'.repeat(128);
const notAtAll = () => NO_SIGNATURE;

/** For networks without signatures: a name in the place of a key, and nothing signed. */
export function unsignedSignatoryOf(seed: string, ordinal: number): Signatory {
  return { publicKey: secretOf(seed, ordinal), sign: notAtAll, unsigned: NO_SIGNATURE };
}
