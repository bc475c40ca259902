/**
 * All agents, one cell each: only cells that changed are drawn, once a frame. Arrow keys go from
 * cell to cell, and whoever does not see it hears what a cell says.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted } from '../../../report/shared/numbers.js';
import { agents } from '../../data/store.js';
import { type Banding, bandsOf, kindsOf } from './bands.js';
import { groups } from './groups.js';
import { agentAt, type Layout, layOut, neighbour } from './layout.js';
import { type Coloring, type Ink, inkOf, type Painter, paintCell } from './paint.js';
import { sentenceOf } from './words.js';

export interface GridProps {
  coloring: Coloring;
  banding: Banding;
  /** Pixels that it should not be higher than. */
  room: number;
  chosen: number | null;
  onChoose(number: number | null): void;
  onOpen?(number: number): void;
}

const KEYS = 'Arrow keys go from one to the next, Enter opens one.';

export function Grid(props: GridProps) {
  const { coloring, banding, room, chosen } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<{ x: number; y: number; number: number } | null>(null);
  const [spoken, setSpoken] = useState('');
  const width = useWidth(box);
  const ink = useInk(box);
  const count = agents.count.value;
  const layout = useMemo(
    () => (width === 0 ? null : layOut(bandsOf(banding, count), count, width, room)),
    [banding, count, width, room, groups.value],
  );
  const painter = usePainting(canvas, { layout, ink, coloring, chosen });
  useEffect(() => painter?.paint(), [chosen, painter]);

  const numberAt = ({ clientX, clientY }: MouseEvent) => {
    const at = canvas.current?.getBoundingClientRect();
    return at && layout ? agentAt(layout, clientX - at.left, clientY - at.top) : null;
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
    setSpoken(sentenceOf(chosen === null ? layout.order[0]! : next));
  };
  return (
    <div class="grid" ref={box}>
      <div
        class="cells"
        role="application"
        aria-roledescription="grid of agents"
        aria-label={`${counted(count, 'agent')}, a cell each. ${KEYS}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes the arrow keys itself
        tabIndex={0}
        onKeyDown={press}
        onPointerMove={point}
        onPointerLeave={() => setTip(null)}
        onClick={(event) => {
          const number = numberAt(event);
          props.onChoose(number);
          if (number !== null) setSpoken(sentenceOf(number));
        }}
        onDblClick={(event) => {
          const number = numberAt(event);
          if (number !== null) props.onOpen?.(number);
        }}
      >
        <canvas ref={canvas} />
        {layout && layout.bands.length > 1 && <Labels layout={layout} />}
      </div>
      {tip && (
        <p
          class="tip"
          style={{
            left: `${Math.min(tip.x + 12, Math.max(0, width - 250))}px`,
            top: `${tip.y + 14}px`,
          }}
        >
          {sentenceOf(tip.number)}
        </p>
      )}
      <p class="unseen" role="status" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

function Labels({ layout }: { layout: Layout }) {
  return (
    <>
      {layout.bands.map(({ name, numbers, top }) => (
        <span key={name} class="band-name" style={{ top: `${top - 19}px` }}>
          <b>{name}</b> {numbers.length}
        </span>
      ))}
    </>
  );
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return width;
}

const media = ['(prefers-color-scheme: dark)', '(forced-colors: active)'];

/** The look's colours, also after the reader's system changed them. */
function useInk(box: { current: HTMLElement | null }): Ink | null {
  const [ink, setInk] = useState<Ink | null>(null);
  useLayoutEffect(() => {
    const read = () => {
      const probe = document.createElement('span');
      probe.className = 'probe';
      box.current!.append(probe);
      setInk(inkOf(probe));
      probe.remove();
    };
    const lists = media.map((query) => matchMedia(query));
    for (const list of lists) list.addEventListener('change', read);
    read();
    return () => {
      for (const list of lists) list.removeEventListener('change', read);
    };
  }, []);
  return ink;
}

interface Wanted {
  layout: Layout | null;
  ink: Ink | null;
  coloring: Coloring;
  chosen: number | null;
}

/** Draws everything when what is wanted changes, and from then on what agents say has changed. */
function usePainting(canvas: { current: HTMLCanvasElement | null }, wanted: Wanted) {
  const { layout, ink, coloring } = wanted;
  const chosen = useRef(wanted.chosen);
  chosen.current = wanted.chosen;
  const known = groups.value;
  const painting = useMemo(() => ({ paint: () => {} }), [layout, ink, coloring, known]);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !layout || !ink) return;
    const context = sized(element, layout);
    const kindOf = kindsOf(coloring === 'group' ? 'group' : 'personality');
    const painter = (): Painter => ({
      context,
      layout,
      ink,
      coloring,
      kindOf,
      chosen: chosen.current,
    });
    let frame = 0;
    let dirty: Set<number> | 'all' = 'all';
    const draw = () => {
      frame = 0;
      const now = painter();
      const numbers = dirty === 'all' ? layout.order : dirty;
      dirty = new Set();
      for (const number of numbers) paintCell(now, number);
      // Over its neighbours' edges.
      if (now.chosen !== null) paintCell(now, now.chosen);
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    painting.paint = () => {
      dirty = 'all';
      soon();
    };
    draw();
    const stop = agents.watch((changed) => {
      if (changed === 'all') dirty = 'all';
      else if (dirty !== 'all') for (const number of changed) dirty.add(number);
      soon();
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [painting]);
  return painting;
}

function sized(element: HTMLCanvasElement, { width, height }: Layout): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil((height + 2) * ratio);
  element.style.width = `${width}px`;
  element.style.height = `${height + 2}px`;
  const context = element.getContext('2d', { alpha: true })!;
  context.scale(ratio, ratio);
  context.translate(1, 1);
  return context;
}
