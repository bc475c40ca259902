/** One cell at a time: what it says is in its shape, and once more in its colour. */
import { approves, DORMANT, rejects } from '../../data/messages.js';
import { agents } from '../../data/store.js';
import type { Kind } from './bands.js';
import type { Layout } from './layout.js';

export const colorings = ['decision', 'personality', 'group', 'reputation', 'status'] as const;
export type Coloring = (typeof colorings)[number];

/** Colours of the page's look, as the canvas takes them. */
export interface Ink {
  paper: string;
  line: string;
  faint: string;
  ink: string;
  link: string;
  /** Eight that are told apart. */
  series: readonly string[];
}

const names = ['paper', 'line', 'faint', 'ink', 'link'] as const;

/** As they are now: light or dark, or what the reader's system forces. */
export function inkOf(probe: HTMLElement): Ink {
  const style = getComputedStyle(probe);
  const color = (name: string) => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  const series = Array.from({ length: 8 }, (_, index) => color(`c${index + 1}`));
  const [paper, line, faint, ink, link] = names.map(color) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return { paper, line, faint, ink, link, series };
}

export interface Painter {
  context: CanvasRenderingContext2D;
  layout: Layout;
  ink: Ink;
  coloring: Coloring;
  /** Personality or group of an agent. */
  kindOf: (number: number) => Kind;
  chosen: number | null;
}

export function paintCell(painter: Painter, number: number): void {
  const { context, layout, ink, coloring } = painter;
  const [x, y] = [layout.x[number]!, layout.y[number]!];
  if (x < 0 || x === undefined) return;
  const gap = layout.pitch > 8 ? 2 : 1;
  const size = layout.pitch - gap;
  context.fillStyle = ink.paper;
  context.fillRect(x - 1, y - 1, layout.pitch + 1, layout.pitch + 1);
  const cell = { x, y, size };
  if (coloring === 'decision') decision(painter, number, cell);
  else if (coloring === 'personality' || coloring === 'group') kind(painter, number, cell);
  else if (coloring === 'reputation') reputation(painter, number, cell);
  else status(painter, number, cell);
  if (painter.chosen !== number) return;
  context.strokeStyle = ink.ink;
  context.lineWidth = 2;
  // Whole pixels, and only such as are cleared above: what is drawn again looks the same.
  context.strokeRect(x, y, size, size);
}

interface Cell {
  x: number;
  y: number;
  size: number;
}

function decision({ context, ink }: Painter, number: number, cell: Cell): void {
  const said = agents.decision[number];
  if (said === approves) return full(context, ink.series[0]!, cell);
  if (said === rejects) {
    full(context, ink.series[1]!, cell);
    return cut(context, ink.paper, cell);
  }
  if (agents.rows[number]?.validator && agents.status[number] === 0)
    hollow(context, ink.faint, cell);
  else dot(context, ink.faint, cell);
}

function kind({ context, ink, kindOf }: Painter, number: number, cell: Cell): void {
  const { place, letters } = kindOf(number);
  full(context, ink.series[place % ink.series.length]!, cell);
  if (cell.size < 12) return;
  context.fillStyle = ink.paper;
  const high = cell.size * (letters.length > 1 ? 0.46 : 0.6);
  context.font = `600 ${Math.round(high)}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(letters, cell.x + cell.size / 2, cell.y + cell.size / 2 + 1);
}

/** As full as its reputation is high. */
function reputation({ context, ink }: Painter, number: number, cell: Cell): void {
  const { x, y, size } = cell;
  const level = Math.round((agents.reputation[number]! / 1_000_000) * size);
  hollow(context, ink.line, cell);
  context.fillStyle = ink.series[2]!;
  context.fillRect(x, y + size - level, size, level);
}

function status({ context, ink }: Painter, number: number, cell: Cell): void {
  const code = agents.status[number]!;
  if (code === 0) return full(context, ink.series[2]!, cell);
  if (code & DORMANT) {
    hollow(context, ink.series[4]!, cell);
    return dot(context, ink.series[4]!, cell);
  }
  hollow(context, ink.faint, cell);
  if (code === 1) cut(context, ink.faint, cell);
}

function full(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.fillStyle = color;
  context.fillRect(x, y, size, size);
}

/** From corner to corner. */
function cut(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.strokeStyle = color;
  context.lineWidth = Math.max(1.25, size / 9);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + size, y + size);
  context.stroke();
}

function hollow(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

function dot(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  const side = Math.max(2, Math.round(size / 3));
  const from = Math.floor((size - side) / 2);
  context.fillStyle = color;
  context.fillRect(x + from, y + from, side, side);
}
