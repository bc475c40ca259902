/**
 * Vote comparison. A principal component analysis of votes on recent blocks gives the two axes
 * along which agents differ most, and each agent's position. Also computes how often the members of
 * an alliance agree.
 */
import type { BlockSnapshot, Snapshot } from '../../api/view/model.js';

/** Number of recent blocks in the analysis. */
const BLOCKS = 100;
/** Number of blocks that label an axis. */
const NAMED = 3;

export interface Axis {
  /** Fraction of the variance along the axis, from 0 to 1. */
  share: number;
  /** Heights of the blocks with the largest loadings, and the vote that points to the high end. */
  blocks: { height: number; approve: boolean }[];
}

export interface Opinion {
  /** First and last height, and number of blocks in the analysis. */
  heights: [number, number];
  blocks: number;
  axes: [Axis, Axis];
  /** Numbers and positions of the agents that voted. */
  agents: Uint32Array;
  x: Float32Array;
  y: Float32Array;
}

/** The previous map, with which the next map is aligned. */
export type Before = Pick<Opinion, 'agents' | 'x' | 'y'>;

/** Returns null unless at least two blocks and two agents have votes. */
export function computeOpinion(snapshot: Snapshot, before: Before | null): Opinion | null {
  const blocks = snapshot.blocks.filter(({ ballots }) => ballots.length > 0).slice(-BLOCKS);
  const { agents, votes } = matrixOf(blocks);
  if (blocks.length < 2 || agents.length < 2) return null;
  const [first, second] = largestTwo(products(votes, blocks.length), blocks.length);
  const all = squares(votes);
  const along = (vector: Float64Array) => projected(votes, blocks.length, vector);
  let axes = [first, second].map(({ value, vector }) => ({
    vector,
    share: all === 0 ? 0 : value / all,
    at: along(vector),
  }));
  axes = aligned(axes, agents, before);
  const named = axes.map(
    ({ vector, share }): Axis => ({ share, blocks: heaviest(vector, blocks) }),
  );
  return {
    heights: [blocks[0]!.height, blocks.at(-1)!.height],
    blocks: blocks.length,
    axes: [named[0]!, named[1]!],
    agents,
    x: axes[0]!.at,
    y: axes[1]!.at,
  };
}

/** Builds one row per voter: 1 for approval, -1 for rejection, minus the block's mean. */
function matrixOf(blocks: readonly BlockSnapshot[]) {
  const rows = new Map<number, number>();
  for (const { ballots } of blocks) {
    for (const ballot of ballots) {
      const agent = ballot >>> 1;
      if (!rows.has(agent)) rows.set(agent, rows.size);
    }
  }
  const votes = new Float32Array(rows.size * blocks.length);
  for (const [column, { ballots }] of blocks.entries()) {
    const sum = ballots.reduce((all, ballot) => all + (ballot & 1 ? -1 : 1), 0);
    const mean = sum / ballots.length;
    // A missing vote counts as the mean, 0.
    for (const ballot of ballots) {
      const row = rows.get(ballot >>> 1)!;
      votes[row * blocks.length + column] = (ballot & 1 ? -1 : 1) - mean;
    }
  }
  return { agents: Uint32Array.from(rows.keys()), votes };
}

/** Computes the Gram matrix of the columns. */
function products(votes: Float32Array, width: number): Float64Array {
  const matrix = new Float64Array(width * width);
  for (let row = 0; row < votes.length; row += width) {
    for (let one = 0; one < width; one += 1) {
      const left = votes[row + one]!;
      if (left === 0) continue;
      for (let other = one; other < width; other += 1) {
        matrix[one * width + other]! += left * votes[row + other]!;
      }
    }
  }
  for (let one = 0; one < width; one += 1) {
    for (let other = 0; other < one; other += 1) {
      matrix[one * width + other] = matrix[other * width + one]!;
    }
  }
  return matrix;
}

const squares = (votes: Float32Array) => votes.reduce((sum, vote) => sum + vote * vote, 0);

function projected(votes: Float32Array, width: number, vector: Float64Array): Float32Array {
  const places = new Float32Array(votes.length / width);
  for (let agent = 0; agent < places.length; agent += 1) {
    let sum = 0;
    for (let column = 0; column < width; column += 1) {
      sum += votes[agent * width + column]! * vector[column]!;
    }
    places[agent] = sum;
  }
  return places;
}

interface Placed {
  vector: Float64Array;
  share: number;
  at: Float32Array;
}

/** Flips or swaps the axes to match the previous map, because eigenvectors have no sign. */
function aligned(axes: Placed[], agents: Uint32Array, before: Before | null): Placed[] {
  if (!before || before.agents.length === 0)
    return axes.map((axis) => turned(axis, sum(axis.vector)));
  const known = new Map([...before.agents].map((agent, place) => [agent, place]));
  const likeness = (at: Float32Array, was: Float32Array) =>
    agents.reduce((all, agent, place) => {
      const then = known.get(agent);
      return then === undefined ? all : all + at[place]! * was[then]!;
    }, 0);
  const [one, other] = axes as [Placed, Placed];
  const [xx, yy] = [likeness(one.at, before.x), likeness(other.at, before.y)];
  const [xy, yx] = [likeness(one.at, before.y), likeness(other.at, before.x)];
  const swap = Math.abs(xy) + Math.abs(yx) > Math.abs(xx) + Math.abs(yy);
  return swap ? [turned(other, yx), turned(one, xy)] : [turned(one, xx), turned(other, yy)];
}

const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);

function turned(axis: Placed, sign: number): Placed {
  if (sign >= 0) return axis;
  return { ...axis, vector: axis.vector.map((part) => -part), at: axis.at.map((place) => -place) };
}

function heaviest(vector: Float64Array, blocks: readonly BlockSnapshot[]): Axis['blocks'] {
  return [...vector.keys()]
    .sort((one, other) => Math.abs(vector[other]!) - Math.abs(vector[one]!))
    .slice(0, NAMED)
    .map((column) => ({ height: blocks[column]!.height, approve: vector[column]! > 0 }));
}

interface Eigen {
  value: number;
  vector: Float64Array;
}

const SWEEPS = 30;

/**
 * Computes the two largest eigenvalues of a symmetric matrix with Jacobi rotations. Changes the
 * row-major `matrix` in place. Eigenvalues of a Gram matrix are never negative.
 */
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

/** Returns the share of the squared norm off the diagonal. */
function apart(matrix: Float64Array, width: number): number {
  let [off, all] = [0, 0];
  for (let place = 0; place < matrix.length; place += 1) {
    const square = matrix[place]! ** 2;
    all += square;
    if (place % (width + 1) !== 0) off += square;
  }
  return all === 0 ? 0 : off / all;
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

/** An agent's vote on a block; null if the agent has not voted. */
export interface VoteOn {
  block: number;
  decision: 'approve' | 'reject' | null;
}

/**
 * Lists the agent's votes on all blocks in the snapshot that still have ballots, in ascending
 * order.
 */
export function listVotes({ blocks }: Snapshot, agent: number): VoteOn[] {
  return blocks
    .filter(({ ballots, status }) => ballots.length > 0 || status === 'voting')
    .map(({ number, ballots }) => {
      const ballot = ballots.find((one) => one >>> 1 === agent);
      const decision = ballot === undefined ? null : ballot & 1 ? 'reject' : 'approve';
      return { block: number, decision };
    });
}

export interface Agreement {
  alliance: number;
  /**
   * Number of member pairs that voted on the same block, summed over all blocks in the snapshot.
   */
  pairs: number;
  /** Number of these pairs that voted the same way. */
  alike: number;
}

export function agreements({ blocks, alliances }: Snapshot): Agreement[] {
  const decided = blocks.map(
    ({ ballots }) => new Map(ballots.map((ballot) => [ballot >>> 1, ballot & 1])),
  );
  return alliances.map(({ number, members }) => {
    let [pairs, alike] = [0, 0];
    for (const votes of decided) {
      let [against, all] = [0, 0];
      for (const member of members) {
        const vote = votes.get(member);
        if (vote === undefined) continue;
        all += 1;
        against += vote;
      }
      pairs += (all * (all - 1)) / 2;
      alike += (against * (against - 1)) / 2 + ((all - against) * (all - against - 1)) / 2;
    }
    return { alliance: number, pairs, alike };
  });
}
