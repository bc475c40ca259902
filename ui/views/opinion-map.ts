/**
 * Draws the opinion map on a canvas: marks, hulls around alliances, and a shape per colour, so that
 * personalities are distinguishable without colour.
 */
import type { AllianceRow } from '../../api/view/model.js';
import type { Brush } from '../brush.js';
import { agents } from '../data/store.js';
import type { Opinion } from '../player/opinion.js';

export interface Drawn {
  width: number;
  height: number;
  /** Position of the average voter. */
  originX: number;
  originY: number;
  /** Positions, in the same order as in the opinion. */
  x: Float32Array;
  y: Float32Array;
  numbers: Uint32Array;
  /** Scale for a mark of ten units. */
  size: number;
}

const MARGIN = 26;
const MAP_HEIGHT = 520;
export const mapHeight = (width: number): number =>
  Math.min(MAP_HEIGHT, Math.max(280, Math.round(width * 0.62)));

/** Golden angle: marks at the same position form a sunflower spiral. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

export function layOutMap(opinion: Opinion, width: number, margin = MARGIN): Drawn {
  const { agents, x, y } = opinion;
  const height = mapHeight(width);
  const [left, right] = ends(x);
  const [low, high] = ends(y);
  // Both axes have the same scale.
  const scale = Math.min(
    (width - 2 * margin) / Math.max(right - left, 1e-6),
    (height - 2 * margin) / Math.max(high - low, 1e-6),
  );
  const originX = width / 2 - ((left + right) / 2) * scale;
  const originY = height / 2 + ((low + high) / 2) * scale;
  const size = agents.length > 3_000 ? 0.42 : agents.length > 600 ? 0.6 : 0.95;
  const taken = new Map<string, number>();
  let largest = 0;
  const placed = (values: Float32Array) => new Float32Array(values.length);
  const layout = {
    ...{ width, height, originX, originY, size },
    ...{ x: placed(x), y: placed(y), numbers: agents },
  };
  for (let place = 0; place < agents.length; place += 1) {
    const [across, down] = [originX + x[place]! * scale, originY - y[place]! * scale];
    const key = `${Math.round(across)} ${Math.round(down)}`;
    const rank = taken.get(key) ?? 0;
    taken.set(key, rank + 1);
    const away = 8.4 * size * Math.sqrt(rank);
    largest = Math.max(largest, away);
    layout.x[place] = inside(across + away * Math.cos(rank * GOLDEN), width);
    layout.y[place] = inside(down + away * Math.sin(rank * GOLDEN), height);
  }
  const needed = Math.min(largest, height / 3) + MARGIN;
  return margin === MARGIN && largest > MARGIN ? layOutMap(opinion, width, needed) : layout;
}

const ends = (values: Float32Array): [number, number] => [
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
];

const inside = (value: number, most: number) => Math.max(6, Math.min(most - 6, value));

export function drawMap(
  { context, width, height, color: ink, selected }: Brush,
  layout: Drawn,
  kindOf: (number: number) => { place: number },
  alliances: readonly AllianceRow[],
): void {
  const { originX, originY, size } = layout;
  context.strokeStyle = ink('--line');
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, originY);
  context.lineTo(width, originY);
  context.moveTo(originX, 0);
  context.lineTo(originX, height);
  context.stroke();
  drawHulls(context, layout, alliances, ink('--faint'));
  const paths = Array.from({ length: COLORS + 1 }, (_, index) => {
    const path = new Path2D();
    path.addPath(new Path2D(shapeOf(index)), new DOMMatrix().scale(size));
    return { path, color: ink(`--c${index + 1}`) };
  });
  const paper = ink('--paper');
  context.lineWidth = 0.7;
  for (let place = 0; place < layout.numbers.length; place += 1) {
    const { path, color } = paths[Math.min(COLORS, kindOf(layout.numbers[place]!).place)]!;
    context.save();
    context.translate(layout.x[place]!, layout.y[place]!);
    context.fillStyle = color;
    context.strokeStyle = paper;
    context.fill(path);
    context.stroke(path);
    context.restore();
  }
  const chosen = layout.numbers.indexOf(selected === null ? -1 : (agents.numberOf(selected) ?? -1));
  if (chosen < 0) return;
  context.strokeStyle = ink('--ink');
  context.lineWidth = 2;
  context.strokeRect(layout.x[chosen]! - 9, layout.y[chosen]! - 9, 18, 18);
}

function drawHulls(
  context: CanvasRenderingContext2D,
  { numbers, x, y }: Drawn,
  alliances: readonly AllianceRow[],
  color: string,
): void {
  const places = new Map([...numbers].map((number, place) => [number, place]));
  context.strokeStyle = color;
  context.setLineDash([5, 4]);
  for (const { members } of alliances) {
    const known = members.flatMap((member) => {
      const place = places.get(member);
      return place === undefined ? [] : [{ x: x[place]!, y: y[place]! }];
    });
    if (known.length < 2) continue;
    const [first, ...rest] = hullOf(known);
    context.beginPath();
    context.moveTo(first!.x, first!.y);
    for (const point of rest) context.lineTo(point.x, point.y);
    context.closePath();
    context.stroke();
  }
  context.setLineDash([]);
}

interface Point {
  x: number;
  y: number;
}

/**
 * Computes the convex hull with Andrew's monotone chain. Returns fewer than three points unchanged.
 */
export function hullOf(points: readonly Point[]): Point[] {
  if (points.length < 3) return [...points];
  const sorted = [...points].sort((one, other) => one.x - other.x || one.y - other.y);
  const lower = chain(sorted);
  const upper = chain(sorted.reverse());
  return [...lower.slice(0, -1), ...upper.slice(0, -1)];
}

function chain(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    while (kept.length >= 2 && turn(kept.at(-2)!, kept.at(-1)!, point) <= 0) kept.pop();
    kept.push(point);
  }
  return kept;
}

const turn = (o: Point, a: Point, b: Point) =>
  (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);

/** Number of kinds with a separate colour. Further kinds share one colour. */
export const COLORS = 7;

const markShapes = [
  'M5 0A5 5 0 1 0-5 0A5 5 0 1 0 5 0Z',
  'M-4.4-4.4H4.4V4.4H-4.4Z',
  'M0-6 5.4 4.2H-5.4Z',
  'M0-6 5.4 0 0 6-5.4 0Z',
  'M0 6 5.4-4.2H-5.4Z',
  'M-1.8-5.5H1.8V-1.8H5.5V1.8H1.8V5.5H-1.8V1.8H-5.5V-1.8H-1.8Z',
  'M-5.5-2.5 0-6 5.5-2.5 3.4 4.6H-3.4Z',
  'M2.6 0A2.6 2.6 0 1 0-2.6 0A2.6 2.6 0 1 0 2.6 0Z',
] as const;

/** SVG path around 0, 0, about ten units wide. */
export const shapeOf = (index: number): string => markShapes[Math.min(index, COLORS)]!;
