/** The two largest eigenvalues of a symmetric matrix, by Jacobi's rotations. */

export interface Eigen {
  value: number;
  vector: Float64Array;
}

const SWEEPS = 30;

/** `matrix`, row by row, is changed. Values of a matrix of products are never below 0. */
export function largestTwo(matrix: Float64Array, width: number): [Eigen, Eigen] {
  const vectors = new Float64Array(width * width);
  for (let place = 0; place < width; place += 1) vectors[place * width + place] = 1;
  for (let sweep = 0; sweep < SWEEPS && apart(matrix, width) > 1e-20; sweep += 1) {
    for (let p = 0; p < width; p += 1) {
      for (let q = p + 1; q < width; q += 1) rotate(matrix, vectors, width, p, q);
    }
  }
  const order = Array.from({ length: width }, (_, place) => place).sort(
    (one, other) => matrix[other * width + other]! - matrix[one * width + one]!,
  );
  const eigen = (place: number): Eigen => ({
    value: Math.max(0, matrix[place * width + place]!),
    vector: Float64Array.from({ length: width }, (_, row) => vectors[row * width + place]!),
  });
  return [eigen(order[0]!), eigen(order[1]!)];
}

/** What is left beside the diagonal, of all. */
function apart(matrix: Float64Array, width: number): number {
  let [beside, all] = [0, 0];
  for (let place = 0; place < matrix.length; place += 1) {
    const square = matrix[place]! ** 2;
    all += square;
    if (place % (width + 1) !== 0) beside += square;
  }
  return all === 0 ? 0 : beside / all;
}

function rotate(a: Float64Array, v: Float64Array, width: number, p: number, q: number): void {
  const off = a[p * width + q]!;
  if (off === 0) return;
  const theta = (a[q * width + q]! - a[p * width + p]!) / (2 * off);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < width; k += 1) {
    const [kp, kq] = [a[k * width + p]!, a[k * width + q]!];
    a[k * width + p] = c * kp - s * kq;
    a[k * width + q] = s * kp + c * kq;
  }
  for (let k = 0; k < width; k += 1) {
    const [pk, qk] = [a[p * width + k]!, a[q * width + k]!];
    a[p * width + k] = c * pk - s * qk;
    a[q * width + k] = s * pk + c * qk;
    const [vp, vq] = [v[k * width + p]!, v[k * width + q]!];
    v[k * width + p] = c * vp - s * vq;
    v[k * width + q] = s * vp + c * vq;
  }
}
