/**
 * Logarithm and exponential out of + - * / alone, which IEEE 754 rounds alike everywhere; Math.log
 * and Math.exp may differ in their last digit between machines. After e_log.c and e_exp.c of
 * FDLIBM (Sun Microsystems 1993): less than one unit in the last place off.
 */

/** The bits of one number, by which its exponent is read and set. */
const bits = new DataView(new ArrayBuffer(8));
const BIAS = 1023;
const SMALLEST_NORMAL = 2.2250738585072014e-308;
const TWO_54 = 18_014_398_509_481_984;

/** ln 2 in two parts: the first has so few digits that its multiples are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** Remez' polynomial of (ln(1 + s) - ln(1 - s)) / s - 2 in even powers of s. */
// biome-ignore format: a table
const LG = [
  0.6666666666666735, 0.3999999999940942, 0.2857142874366239,
  0.22222198432149784, 0.1818357216161805, 0.15313837699209373,
  0.14798198605116586,
] as const;

/** The natural logarithm of a number above 0. */
export function ln(x: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  if (x < SMALLEST_NORMAL) return ln(x * TWO_54) - 54 * LN2_HIGH - 54 * LN2_LOW;
  // x = 2^k m, with m between sqrt(1/2) and sqrt(2).
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  let k = (high >>> 20) - BIAS;
  bits.setUint32(0, (high & 0x000fffff) | (BIAS << 20));
  let m = bits.getFloat64(0);
  if (m > Math.SQRT2) {
    m /= 2;
    k += 1;
  }
  const f = m - 1;
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const even = w * (LG[1] + w * (LG[3] + w * LG[5]));
  const odd = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
  const half = 0.5 * f * f;
  return k * LN2_HIGH - (half - (s * (half + even + odd) + k * LN2_LOW) - f);
}

/** Remez' polynomial of x (exp(x) + 1) / (exp(x) - 1) - 2 in even powers of x. */
// biome-ignore format: a table
const P = [
  0.16666666666666602, -0.0027777777777015593, 6.613756321437934e-5,
  -1.6533902205465252e-6, 4.1381367970572385e-8,
] as const;
const LARGEST = 709.782712893384;
const SMALLEST = -745.1332191019411;

/** e to the power of a number. */
export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > LARGEST) return Number.POSITIVE_INFINITY;
  if (x < SMALLEST) return 0;
  // x = k ln 2 + r, with r at most half of ln 2.
  const k = Math.floor(Math.LOG2E * x + 0.5);
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const t = r * r;
  const c = r - t * (P[0] + t * (P[1] + t * (P[2] + t * (P[3] + t * P[4]))));
  const y = 1 - (low - (r * c) / (2 - c) - high);
  // In two steps, since 2^k alone may be too large or too small for a number.
  const first = Math.trunc(k / 2);
  return y * powerOfTwo(first) * powerOfTwo(k - first);
}

function powerOfTwo(k: number): number {
  bits.setUint32(0, (k + BIAS) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}
