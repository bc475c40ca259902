/**
 * Functions with bit-identical results on every machine, for random draws and intervals. The
 * logarithm and the exponential use only + - * /, which IEEE 754 defines exactly, because Math.log
 * and Math.exp may differ in the last digit between machines. Both functions follow e_log.c and
 * e_exp.c in FDLIBM (Sun Microsystems 1993), with an error below one unit in the last place.
 */

/** Buffer that gives access to a number's bits. */
const bits = new DataView(new ArrayBuffer(8));
const BIAS = 1023;
const SMALLEST_NORMAL = 2.2250738585072014e-308;
const TWO_54 = 18_014_398_509_481_984;

/** ln 2 in two parts. The first part has so few digits that its multiples are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** Remez polynomial of (ln(1 + s) - ln(1 - s)) / s - 2 in even powers of s. */
// biome-ignore format: a table
const LG = [
  0.6666666666666735, 0.3999999999940942, 0.2857142874366239,
  0.22222198432149784, 0.1818357216161805, 0.15313837699209373,
  0.14798198605116586,
] as const;

/** Natural logarithm of a number above 0. */
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

/** Remez polynomial of x (exp(x) + 1) / (exp(x) - 1) - 2 in even powers of x. */
// biome-ignore format: a table
const P = [
  0.16666666666666602, -0.0027777777777015593, 6.613756321437934e-5,
  -1.6533902205465252e-6, 4.1381367970572385e-8,
] as const;
const LARGEST = 709.782712893384;
const SMALLEST = -745.1332191019411;

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
  // Scale in two steps, because 2^k alone may overflow or underflow.
  const first = Math.trunc(k / 2);
  return y * powerOfTwo(first) * powerOfTwo(k - first);
}

function powerOfTwo(k: number): number {
  bits.setUint32(0, (k + BIAS) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

/*
 * Quantiles of the normal distribution by algorithm AS 241, PPND16 (Wichura 1988, Applied
 * Statistics 37(3) 477-484), accurate to one part in 10^16.
 */

/** Coefficients in ascending order for the middle, the tails, and the extreme tails. */
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

/** Returns a quantile of the standard normal distribution. */
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

/*
 * Quantile of Student's t and the functions that intervals need, built only from + - * / and the
 * square root. IEEE 754 defines these operations exactly, so tables are identical on every machine.
 */

/** Probability covered by a two-sided interval. */
export interface Level {
  share: number;
  /** Normal quantile for this interval. */
  normal: number;
}

export const LEVEL_95: Level = { share: 0.95, normal: 1.959963984540054 };
export const LEVEL_97_5: Level = { share: 0.975, normal: 2.2414027276049464 };

const known = new Map<Level, Map<number, number>>();

/** Returns the two-sided quantile of Student's t. @param freedom degrees of freedom, from 1. */
export function studentQuantile(freedom: number, level: Level = LEVEL_95): number {
  const ofLevel = known.get(level) ?? new Map<number, number>();
  known.set(level, ofLevel);
  const found = ofLevel.get(freedom);
  if (found !== undefined) return found;
  const quantile = freedom > EXACT ? expanded(freedom, level) : bisected(freedom, level);
  ofLevel.set(freedom, quantile);
  return quantile;
}

/** Degrees of freedom above which the expansion, faster than the sum, is correct to 12 digits. */
const EXACT = 2_000;

function bisected(freedom: number, { share }: Level): number {
  let low = 0;
  // Upper bound: the two-sided 97.5 % critical value with one degree of freedom is 25.5.
  let high = 32;
  for (let step = 0; step < 80; step += 1) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Probability of |T| < t (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function within(t: number, freedom: number): number {
  const slope = t / Math.sqrt(freedom);
  const cosine = 1 / Math.sqrt(1 + slope * slope);
  const sine = slope * cosine;
  const odd = freedom % 2;
  let term = odd ? cosine : 1;
  let sum = 0;
  for (let power = odd; power <= freedom - 2; power += 2) {
    sum += term;
    term *= (cosine * cosine * (power + 1)) / (power + 2);
  }
  if (!odd) return sine * sum;
  return (2 / Math.PI) * (arcTangent(slope) + sine * sum);
}

/** Halves the angle until the series converges quickly. */
function arcTangent(slope: number): number {
  let x = slope;
  let scale = 1;
  for (; x > 0.05; scale *= 2) x /= 1 + Math.sqrt(1 + x * x);
  let term = x;
  let sum = 0;
  for (let power = 1; power < 25; power += 2) {
    sum += term / power;
    term *= -x * x;
  }
  return scale * sum;
}

/** Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5). */
function expanded(freedom: number, { normal: x }: Level): number {
  const squared = x * x;
  const first = ((squared + 1) * x) / 4;
  const second = (((5 * squared + 16) * squared + 3) * x) / 96;
  const third = ((((3 * squared + 19) * squared + 17) * squared - 15) * x) / 384;
  return x + (first + (second + third / freedom) / freedom) / freedom;
}

interface Source {
  /** Uniform from 0 (inclusive) to 1 (exclusive). */
  real(): number;
  normal(): number;
}

/** Draws from a beta distribution with mean alpha / (alpha + beta). */
export function drawBeta(alpha: number, beta: number, rng: Source): number {
  const [a, b] = [gammaOf(alpha, rng), gammaOf(beta, rng)];
  // With very small parameters, both values may underflow.
  return a + b === 0 ? Number(rng.real() < alpha / (alpha + beta)) : a / (a + b);
}

/** Draws from a gamma distribution by Marsaglia and Tsang 2000, ACM TOMS 26(3) 363-372. */
function gammaOf(shape: number, rng: Source): number {
  if (shape < 1) return gammaOf(shape + 1, rng) * exp(ln(1 - rng.real()) / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = rng.normal();
    const v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && ln(1 - rng.real()) < 0.5 * x * x + d - d * v + d * ln(v)) return d * v;
  }
}
