/** Large numbers by their remainders: the Chinese remainder theorem. */

const BITS = 52;

/** Numbers below 2^52 without a common divisor, whose product is above 2^`bits`. */
export function moduliFor(bits: number): number[] {
  const found: number[] = [];
  // Each is above 2^51.
  const count = Math.ceil(bits / (BITS - 1));
  for (let next = 2 ** 52 - 1; found.length < count; next -= 2) {
    if (found.every((one) => divisor(BigInt(one), BigInt(next)) === 1n)) found.push(next);
  }
  return found;
}

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b));

/** Finds the number, below the product of the moduli, that leaves these remainders. */
export function remainderReader(moduli: readonly number[]): (of: readonly number[]) => bigint {
  const product = moduli.reduce((all, modulus) => all * BigInt(modulus), 1n);
  const parts = moduli.map((modulus) => {
    const others = product / BigInt(modulus);
    return others * inverse(others % BigInt(modulus), BigInt(modulus));
  });
  return (of) => parts.reduce((sum, part, at) => sum + part * BigInt(of[at]!), 0n) % product;
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}
