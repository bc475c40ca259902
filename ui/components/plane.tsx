/**
 * A canvas with one mark per agent: it names the agent near the pointer, a click selects an agent
 * for all views, and a double click opens it. Draws at most once per frame.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Brush } from '../brush.js';
import { agents } from '../data/store.js';
import { go, href, useChoice } from '../route.js';
import { describeAgent, useWidth, watchScheme } from './labels.js';

interface PlaneProps {
  label: string;
  height(width: number): number;
  /** Draws everything. Returns true to be called again in the next frame. */
  paint(brush: Brush): boolean;
  /** Returns the number of the agent at a point, or null. */
  agentAt(x: number, y: number): number | null;
  /** False for a picture that does not show what agents do. */
  follows?: boolean;
}

/** `paint` must stay the same function until the picture changes. */
export function Plane({ label, height, paint, agentAt, follows = true }: PlaneProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [selected, choose] = useChoice('sel');
  const [tip, setTip] = useState<{ x: number; y: number; number: number } | null>(null);
  useEffect(() => {
    if (width === 0) return;
    let frame = 0;
    const draw = () => {
      frame = 0;
      // The cleanup of an effect may run a frame after its element was removed.
      if (!canvas.current) return;
      const high = height(width);
      const context = resizeCanvas(canvas.current, width, high);
      const style = getComputedStyle(canvas.current);
      const color = (name: string) => style.getPropertyValue(name);
      if (paint({ context, width, height: high, color, selected })) soon();
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    soon();
    const stops = [watchScheme(soon), ...(follows ? [agents.watch(soon)] : [])];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
    };
  }, [paint, width, selected, follows]);
  const at = ({ clientX, clientY }: MouseEvent) => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    const [x, y] = [clientX - left, clientY - top];
    const number = agentAt(x, y);
    return number === null ? null : { x, y, number };
  };
  const idAt = (event: MouseEvent) => {
    const found = at(event);
    return found && agents.rows[found.number]!.id;
  };
  return (
    <div class="plane" ref={box}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerMove={(event) => setTip(at(event))}
        onPointerLeave={() => setTip(null)}
        onClick={(event) => choose(idAt(event))}
        onDblClick={(event) => {
          const id = idAt(event);
          if (id !== null) go(href('agent', id));
        }}
      />
      {tip && <Tip at={tip} width={width} />}
    </div>
  );
}

/** Resizes a canvas to CSS pixels, which clears it. */
export function resizeCanvas(
  element: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil(height * ratio);
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  const context = element.getContext('2d')!;
  context.scale(ratio, ratio);
  return context;
}

/** Hit radius of a mark, in pixels. */
const NEAR = 14;

/** Returns the index of the mark nearest to a point; null if none is near. */
export function findNearest(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  x: number,
  y: number,
): number | null {
  let [found, least]: [number | null, number] = [null, NEAR];
  for (let mark = 0; mark < xs.length; mark += 1) {
    const far = Math.hypot(xs[mark]! - x, ys[mark]! - y);
    if (far < least) [found, least] = [mark, far];
  }
  return found;
}

interface TipProps {
  at: { x: number; y: number; number: number };
  width: number;
}

/** Describes an agent beside the pointer. */
export function Tip({ at, width }: TipProps) {
  const left = `${Math.min(at.x + 12, Math.max(0, width - 250))}px`;
  return (
    <p class="tip" style={{ left, top: `${at.y + 14}px` }}>
      {describeAgent(at.number)}
    </p>
  );
}
