/** Hostile points and signatures for the verifier tests. */
import { createHash } from 'node:crypto';
import { Point } from '@noble/ed25519';
import type { VerifyJob } from '../../../dist/engine/crypto/verifier.js';

const { n, p } = Point.CURVE();
export const groupOrder = n;
export const fieldPrime = p;

/** A point of order 8. Its multiples are the torsion subgroup. */
const torsionGenerator = Point.fromHex(
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
);

export function torsion(multiple: number): Point {
  let sum = Point.ZERO;
  for (let i = 0; i < multiple; i++) sum = sum.add(torsionGenerator);
  return sum;
}

function toLittleEndian(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex')).reverse();
}

export function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

/** Encodes y with the sign bit of x. y need not be canonical or on the curve. */
export function encodeY(y: bigint, sign: 0 | 1): Uint8Array {
  const bytes = toLittleEndian(y);
  bytes[31]! |= sign << 7;
  return bytes;
}

/** Every encoding of a small-order point, and every y in p .. 2^255 - 1, with both signs. */
export const oddEncodings: Uint8Array[] = [
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((multiple) => torsion(multiple).toBytes()),
  ...[0n, 1n, p - 1n].map((y) => encodeY(y, 1)),
  ...Array.from({ length: 19 }, (_, above) => encodeY(p + BigInt(above), 0)),
  ...Array.from({ length: 19 }, (_, above) => encodeY(p + BigInt(above), 1)),
];

/** Computes k in the equation S*B = R + k*A over the given bytes. */
export function challenge(encodedR: Uint8Array, encodedA: Uint8Array, message: Uint8Array): bigint {
  const digest = createHash('sha512').update(encodedR).update(encodedA).update(message).digest();
  return fromLittleEndian(digest) % n;
}

/** Builds a job with S = r + k*a for any encodings of A and R. */
export function jobWith(options: {
  a: bigint;
  r: bigint;
  encodedA: Uint8Array;
  encodedR: Uint8Array;
  message: Uint8Array;
}): VerifyJob {
  const { a, r, encodedA, encodedR, message } = options;
  const s = (r + challenge(encodedR, encodedA, message) * a) % n;
  return { publicKey: encodedA, message, signature: joinSignature(encodedR, s) };
}

/** Concatenates R and S. S can be L or more but must fit in 32 bytes. */
export function joinSignature(encodedR: Uint8Array, s: bigint): Uint8Array {
  return Uint8Array.from([...encodedR, ...toLittleEndian(s)]);
}
