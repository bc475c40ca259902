/** What charts have in common: the room, both axes with their names, and a place for each share. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Scale, Tick } from './scale.js';

export interface Plane {
  /** Of a share of the width, from the left; of the height, from the foot. */
  x(share: number): number;
  y(share: number): number;
}

interface PlotProps {
  /** What is drawn, for who does not see it. */
  label: string;
  height: number;
  scale: Scale;
  /** What lies along the foot, in words and as ticks for so many of them. */
  across: string;
  ticks(most: number): readonly Tick[];
  /** The share of the width that is pointed at; null when it is left. */
  onPoint?(share: number | null): void;
  draw(plane: Plane): ComponentChildren;
}

const room = { left: 52, right: 24, top: 24, bottom: 40 };
/** Between two ticks, at the least. */
const TICK_ROOM = 80;

export function Plot({ label, height, scale, across, ticks, onPoint, draw }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const look = () => setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  const wide = Math.max(1, width - room.left - room.right);
  const foot = height - room.bottom;
  const plane: Plane = {
    x: (share) => room.left + wide * share,
    y: (share) => foot - (foot - room.top) * share,
  };
  const point = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    onPoint?.(Math.min(1, Math.max(0, (event.clientX - left - room.left) / wide)));
  };
  return (
    <div class="chart" ref={box}>
      {width > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          onPointerMove={point}
          onPointerLeave={() => onPoint?.(null)}
        >
          <text x={4} y={14}>
            {scale.name}
          </text>
          {scale.ticks.map(({ at, text }) => (
            <g key={text}>
              <line
                class="rule"
                x1={plane.x(0)}
                x2={plane.x(1)}
                y1={plane.y(at)}
                y2={plane.y(at)}
              />
              <text class="end" x={room.left - 6} y={plane.y(at) + 4}>
                {text}
              </text>
            </g>
          ))}
          {ticks(Math.max(2, Math.floor(wide / TICK_ROOM))).map(({ at, text }) => (
            <text key={text} class="middle" x={plane.x(at)} y={foot + 18}>
              {text}
            </text>
          ))}
          <text class="end" x={plane.x(1)} y={height - 4}>
            {across}
          </text>
          {draw(plane)}
        </svg>
      )}
    </div>
  );
}
