/**
 * The grid of all agents, with one cell per agent. It redraws changed cells at most once per frame.
 * Arrow keys move between cells, and each newly selected cell is announced.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../../report/shared/format.js';
import { approves, DORMANT, rejects } from '../data/messages.js';
import { agents } from '../data/store.js';
import {
  type Banding,
  createBands,
  createKindLookup,
  findAgentAt,
  type Kind,
  kinds,
  type Layout,
  LEAST_BAND,
  layOut,
  neighbour,
} from './bands.js';
import { cleanText, describeAgent, useWidth, watchScheme } from './labels.js';
import { resizeCanvas, Tip } from './plane.js';
import { groups } from './requests.js';

interface GridProps {
  coloring: Coloring;
  banding: Banding;
  /** Height limit in CSS pixels. */
  room: number;
  chosen: number | null;
  onChoose(number: number | null): void;
  onOpen?(number: number): void;
}

const KEYS = 'Arrow keys select a cell, Enter opens its agent.';

export function Grid(props: GridProps) {
  const { coloring, banding, room, chosen } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; number: number } | null>(null);
  const [spoken, setSpoken] = useState('');
  const width = useWidth(box);
  const count = agents.count.value;
  const layout = useMemo(
    () => (width === 0 ? null : layOut(createBands(banding, count), count, width, room)),
    [banding, count, width, room, groups.value],
  );
  const painter = usePainting(canvas, { layout, coloring, chosen });
  useEffect(() => painter?.paint(), [chosen, painter]);

  const numberAt = ({ clientX, clientY }: MouseEvent) => {
    const at = canvas.current?.getBoundingClientRect();
    return at && layout ? findAgentAt(layout, clientX - at.left, clientY - at.top) : null;
  };
  const point = (event: MouseEvent) => {
    const number = numberAt(event);
    const at = box.current!.getBoundingClientRect();
    setTip(
      number === null ? null : { x: event.clientX - at.left, y: event.clientY - at.top, number },
    );
  };
  const press = (event: KeyboardEvent) => {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && chosen !== null) return props.onOpen?.(chosen);
    const next = neighbour(layout, chosen ?? layout.order[0] ?? 0, event.key);
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    props.onChoose(chosen === null ? layout.order[0]! : next);
    setSpoken(describeAgent(chosen === null ? layout.order[0]! : next));
  };
  return (
    <div class="grid" ref={box}>
      <div
        class="cells"
        role="application"
        aria-roledescription="grid of agents"
        aria-label={`${plural(count, 'agent')}, one cell each. ${KEYS}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the grid handles arrow keys
        tabIndex={0}
        onKeyDown={press}
        onPointerMove={point}
        onPointerLeave={() => setTip(null)}
        onClick={(event) => {
          const number = numberAt(event);
          props.onChoose(number);
          if (number !== null) setSpoken(describeAgent(number));
        }}
        onDblClick={(event) => {
          const number = numberAt(event);
          if (number !== null) props.onOpen?.(number);
        }}
      >
        <canvas ref={canvas} />
        {layout && layout.bands.length > 1 && <Labels layout={layout} />}
      </div>
      {tip && <Tip at={tip} width={width} />}
      <p class="unseen" role="status" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

function Labels({ layout }: { layout: Layout }) {
  return (
    <>
      {layout.bands.map(({ name, numbers, left, top, width }) => (
        <span
          key={name}
          class="band-name"
          style={{
            left: `${left}px`,
            top: `${top - 19}px`,
            maxWidth: `${Math.max(LEAST_BAND, width)}px`,
          }}
        >
          <b>{name}</b> {numbers.length}
        </span>
      ))}
    </>
  );
}

interface PaintingOptions {
  layout: Layout | null;
  coloring: Coloring;
  chosen: number | null;
}

/**
 * Draws all cells when the layout or colouring changes, and afterwards only the agents that
 * changed.
 */
function usePainting(canvas: { current: HTMLCanvasElement | null }, wanted: PaintingOptions) {
  const { layout, coloring } = wanted;
  const chosen = useRef(wanted.chosen);
  chosen.current = wanted.chosen;
  const known = groups.value;
  const painting = useMemo(() => ({ paint: () => {} }), [layout, coloring, known]);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !layout) return;
    const context = sized(element, layout);
    const kindOf = createKindLookup(coloring === 'group' ? 'group' : 'personality');
    const style = getComputedStyle(element);
    const painter = (): Painter => {
      const color = (name: string) => style.getPropertyValue(`--${name}`);
      const [paper, line, faint, ink] = ['paper', 'line', 'faint', 'ink'].map(color);
      const series = Array.from({ length: COLORS }, (_, index) => color(`c${index + 1}`));
      const colors = { paper: paper!, line: line!, faint: faint!, ink: ink!, series };
      return { context, layout, coloring, kindOf, chosen: chosen.current, ink: colors };
    };
    let frame = 0;
    let dirty: Set<number> | 'all' = 'all';
    const draw = () => {
      frame = 0;
      const now = painter();
      const numbers = dirty === 'all' ? layout.order : dirty;
      dirty = new Set();
      for (const number of numbers) paintCell(now, number);
      // Painted last, so that its outline covers the neighbouring edges.
      if (now.chosen !== null) paintCell(now, now.chosen);
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    painting.paint = () => {
      dirty = 'all';
      soon();
    };
    const unwatch = watchScheme(painting.paint);
    draw();
    const stop = agents.watch((changed) => {
      if (changed === 'all') dirty = 'all';
      else if (dirty !== 'all') for (const number of changed) dirty.add(number);
      soon();
    });
    return () => {
      stop();
      unwatch();
      cancelAnimationFrame(frame);
    };
  }, [painting]);
  return painting;
}

function sized(element: HTMLCanvasElement, { width, height }: Layout): CanvasRenderingContext2D {
  const context = resizeCanvas(element, width, height + 2);
  context.translate(1, 1);
  return context;
}

export const colorings = ['decision', 'personality', 'group', 'reputation', 'status'] as const;
export type Coloring = (typeof colorings)[number];

/** Number of categorical colours. */
const COLORS = 8;

interface Painter {
  context: CanvasRenderingContext2D;
  layout: Layout;
  /** Colours of the theme. */
  ink: Record<'paper' | 'line' | 'faint' | 'ink', string> & { series: readonly string[] };
  coloring: Coloring;
  kindOf: (number: number) => Kind;
  chosen: number | null;
}

function paintCell(painter: Painter, number: number): void {
  const { context, layout, ink, coloring } = painter;
  const [x, y] = [layout.x[number]!, layout.y[number]!];
  if (x < 0 || x === undefined) return;
  const gap = layout.pitch > 8 ? 2 : 1;
  const size = layout.pitch - gap;
  context.fillStyle = ink.paper;
  context.fillRect(x - 1, y - 1, layout.pitch + 1, layout.pitch + 1);
  const cell = { x, y, size };
  if (coloring === 'decision') paintDecision(painter, number, cell);
  else if (coloring === 'personality' || coloring === 'group') paintKind(painter, number, cell);
  else if (coloring === 'reputation') paintReputation(painter, number, cell);
  else paintStatus(painter, number, cell);
  if (size >= NAMED_CELL) paintName(painter, number, cell);
  if (painter.chosen !== number) return;
  context.strokeStyle = ink.ink;
  context.lineWidth = 2;
  // Aligned to whole pixels inside the cleared area, so that a redraw produces identical pixels.
  context.strokeRect(x, y, size, size);
}

/** Smallest cell that has room for a name. */
const NAMED_CELL = 46;

/** Writes the agent's name on a strip at the foot of its cell. */
function paintName({ context, ink }: Painter, number: number, { x, y, size }: Cell): void {
  const name = cleanText(agents.rows[number]?.name ?? '', Math.floor(size / 5));
  const high = size > 90 ? 18 : 14;
  context.fillStyle = ink.paper;
  context.fillRect(x + 1, y + size - high - 1, size - 2, high);
  context.fillStyle = ink.ink;
  context.font = `${size > 90 ? 13 : 10.5}px system-ui, sans-serif`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(name, x + 3, y + size - high / 2 - 1, size - 5);
}

interface Cell {
  x: number;
  y: number;
  size: number;
}

function paintDecision({ context, ink }: Painter, number: number, cell: Cell): void {
  const said = agents.decision[number];
  if (said === approves) return fillCell(context, ink.series[0]!, cell);
  if (said === rejects) {
    fillCell(context, ink.series[1]!, cell);
    return strikeCell(context, ink.paper, cell);
  }
  if (agents.rows[number]?.validator && agents.status[number] === 0)
    outlineCell(context, ink.faint, cell);
  else dotCell(context, ink.faint, cell);
}

function paintKind({ context, ink, kindOf }: Painter, number: number, cell: Cell): void {
  const { place, letters } = kindOf(number);
  fillCell(context, ink.series[place % ink.series.length]!, cell);
  if (cell.size < 12) return;
  context.fillStyle = ink.paper;
  const high = cell.size * (letters.length > 1 ? 0.46 : 0.6);
  context.font = `600 ${Math.round(high)}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(letters, cell.x + cell.size / 2, cell.y + cell.size / 2 + 1);
}

/** Fills the cell from the bottom, in proportion to the agent's reputation. */
function paintReputation({ context, ink }: Painter, number: number, cell: Cell): void {
  const { x, y, size } = cell;
  const level = Math.round((agents.reputation[number]! / 1_000_000) * size);
  outlineCell(context, ink.line, cell);
  context.fillStyle = ink.series[2]!;
  context.fillRect(x, y + size - level, size, level);
}

function paintStatus({ context, ink }: Painter, number: number, cell: Cell): void {
  const code = agents.status[number]!;
  if (code === 0) return fillCell(context, ink.series[2]!, cell);
  if (code & DORMANT) {
    outlineCell(context, ink.series[4]!, cell);
    return dotCell(context, ink.series[4]!, cell);
  }
  outlineCell(context, ink.faint, cell);
  if (code === 1) strikeCell(context, ink.faint, cell);
}

function fillCell(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.fillStyle = color;
  context.fillRect(x, y, size, size);
}

/** Strikes the cell out, corner to corner. */
function strikeCell(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.strokeStyle = color;
  context.lineWidth = Math.max(1.25, size / 9);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + size, y + size);
  context.stroke();
}

function outlineCell(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

function dotCell(context: CanvasRenderingContext2D, color: string, { x, y, size }: Cell): void {
  const side = Math.max(2, Math.round(size / 3));
  const from = Math.floor((size - side) / 2);
  context.fillStyle = color;
  context.fillRect(x + from, y + from, side, side);
}

/** A legend of swatches: the class of each swatch, and its meaning. */
const Swatches = (props: {
  of: Readonly<Record<string, string>>;
  children?: ComponentChildren;
}) => (
  <ul class="legend">
    {Object.entries(props.of).map(([mark, text]) => (
      <li key={mark}>
        <span class={`swatch ${mark}`} aria-hidden="true" /> {text}
      </li>
    ))}
    {props.children}
  </ul>
);

const decisionMarks = {
  approve: 'approves',
  reject: 'rejects',
  pending: 'has not voted',
  none: 'does not vote',
};
const statusMarks = {
  active: 'active',
  dormant: 'dormant: missed too many votes',
  inactive: 'inactive',
  pending: 'in maintenance',
};

/** @param children further rows */
export const DecisionLegend = ({ children }: { children?: ComponentChildren }) => (
  <Swatches of={decisionMarks}>{children}</Swatches>
);

export function Legend({ coloring }: { coloring: Coloring }) {
  if (coloring === 'decision') return <DecisionLegend />;
  if (coloring === 'reputation') {
    return <Swatches of={{ low: 'reputation, 0 (empty) to 100 (full)' }} />;
  }
  if (coloring === 'status') return <Swatches of={statusMarks} />;
  return (
    <ul class="legend">
      {kinds(coloring)
        .slice(0, 12)
        .map((name, index) => (
          <li key={name}>
            <span
              class="swatch"
              aria-hidden="true"
              style={{ background: `var(--c${(index % 8) + 1})` }}
            />
            {cleanText(name, 32)}
          </li>
        ))}
    </ul>
  );
}
