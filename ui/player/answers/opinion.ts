/**
 * Where agents stand to each other by their votes: the two directions in which the votes of the
 * last blocks differ most, and each agent's place along them.
 */
import type { BlockPicture, Picture } from '../../../api/view/model.js';
import { largestTwo } from './eigen.js';

/** Blocks that count, the last ones. */
const BLOCKS = 100;
/** By which an axis is named. */
const NAMED = 3;

export interface Axis {
  /** Of all difference between agents, how much lies along it: 0 to 1. */
  share: number;
  /** Heights of the blocks that weigh most, and which vote leads to the axis' greater end. */
  blocks: { height: number; approve: boolean }[];
}

export interface Opinion {
  /** First and last height of the blocks that were looked at, and how many. */
  heights: [number, number];
  blocks: number;
  axes: [Axis, Axis];
  /** Numbers of the agents that voted, and where they stand. */
  agents: Uint32Array;
  x: Float32Array;
  y: Float32Array;
}

/** The picture before, so that this one lies alike. */
export interface Before {
  agents: Uint32Array;
  x: Float32Array;
  y: Float32Array;
}

/** Null where fewer than two blocks or agents have votes. */
export function opinionOf(picture: Picture, before: Before | null): Opinion | null {
  const blocks = picture.blocks.filter(({ ballots }) => ballots.length > 0).slice(-BLOCKS);
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

/** A row an agent that voted: 1 for approval, -1 for rejection, less what was voted on average. */
function matrixOf(blocks: readonly BlockPicture[]) {
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
    // Who did not vote stands where the average is: silence says nothing here.
    for (const ballot of ballots) {
      const row = rows.get(ballot >>> 1)!;
      votes[row * blocks.length + column] = (ballot & 1 ? -1 : 1) - mean;
    }
  }
  return { agents: Uint32Array.from(rows.keys()), votes };
}

/** How alike blocks were voted on, each with each. */
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

/** Directions have no beginning: each is turned, or both are swapped, to lie as they lay before. */
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

function heaviest(vector: Float64Array, blocks: readonly BlockPicture[]): Axis['blocks'] {
  return [...vector.keys()]
    .sort((one, other) => Math.abs(vector[other]!) - Math.abs(vector[one]!))
    .slice(0, NAMED)
    .map((column) => ({ height: blocks[column]!.height, approve: vector[column]! > 0 }));
}
