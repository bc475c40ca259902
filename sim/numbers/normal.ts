/**
 * Quantiles of the normal distribution: algorithm AS 241, PPND16 (Wichura 1988, Applied Statistics
 * 37(3) 477-484), good to one part in 10^16.
 */
import { ln } from './logarithm.js';

/** Coefficients from the constant up: of the middle, of the tails, and of what is beyond them. */
// biome-ignore format: tables
const middle = {
  above: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513,
    13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  below: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751,
    21213.794301586597, 39307.89580009271, 28729.085735721943,
    5226.495278852854,
  ],
};
// biome-ignore format: tables
const tail = {
  above: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691,
    3.6478483247632045, 1.2704582524523684, 0.2417807251774506,
    0.022723844989269184, 0.0007745450142783414,
  ],
  below: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851,
    0.14810397642748008, 0.015198666563616457, 0.0005475938084995345,
    1.0507500716444169e-9,
  ],
};
// biome-ignore format: tables
const beyond = {
  above: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913,
    0.29656057182850487, 0.026532189526576124, 0.0012426609473880784,
    2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  below: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615,
    0.0007868691311456133, 1.8463183175100548e-5, 1.421511758316446e-7,
    2.0442631033899397e-15,
  ],
};

/** Below which value a standard normal number lies with probability `p`. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) {
    if (p === 0 || p === 1) return p === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return Number.NaN;
  }
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) return q * ratio(middle, 0.180625 - q * q);
  const r = Math.sqrt(-ln(q < 0 ? p : 1 - p));
  const value = r <= 5 ? ratio(tail, r - 1.6) : ratio(beyond, r - 5);
  return q < 0 ? -value : value;
}

interface Fraction {
  above: readonly number[];
  below: readonly number[];
}

function ratio({ above, below }: Fraction, r: number): number {
  return polynomial(above, r) / polynomial(below, r);
}

function polynomial(coefficients: readonly number[], r: number): number {
  let value = 0;
  for (let at = coefficients.length - 1; at >= 0; at -= 1) value = value * r + coefficients[at]!;
  return value;
}
