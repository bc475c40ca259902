/** What was asked for against what was had: full where it held, open where it did not. */
import { colorOf } from '../../../report/shared/palette.js';
import { Plot } from './plot.js';
import { evenTicks, type Scale } from './scale.js';

export interface Dot {
  asked: number;
  had: number;
  full: boolean;
  /** Dots of one series have a colour and a shape of their own. */
  series: number;
}

interface DotsProps {
  label: string;
  dots: readonly Dot[];
  /** Of both axes: on the dashed line they are the same. */
  scale: Scale;
  most: number;
  across: string;
}

const HEIGHT = 260;

/** Around the middle of a dot. */
const shapes = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z',
  'M-4-4H4V4H-4Z',
  'M0-5.5L5.5 0 0 5.5-5.5 0Z',
  'M0-5L5 4H-5Z',
] as const;

export function Dots({ label, dots, scale, most, across }: DotsProps) {
  return (
    <Plot
      label={label}
      height={HEIGHT}
      scale={scale}
      across={across}
      ticks={(steps) =>
        evenTicks(most, steps).map(({ at, text }) => ({ at: scale.place(at * most), text }))
      }
      draw={({ x, y }) => (
        <>
          <path
            class="same"
            d={`M${x(0)} ${y(0)}L${x(scale.place(most))} ${y(scale.place(most))}`}
          />
          {dots.map(({ asked, had, full, series }, index) => (
            <g key={index} transform={`translate(${x(scale.place(asked))} ${y(scale.place(had))})`}>
              <DotShape series={series} full={full} />
            </g>
          ))}
        </>
      )}
    />
  );
}

function DotShape({ series, full }: Pick<Dot, 'series' | 'full'>) {
  const color = colorOf(series);
  const style = { fill: full ? color : 'none' };
  return <path class="dot" d={shapes[series % shapes.length]} stroke={color} style={style} />;
}

/** The dot of a series, as it stands beside its name. */
export const DotKey = ({ series }: Pick<Dot, 'series'>) => (
  <svg class="chart-key" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
    <DotShape series={series} full />
  </svg>
);
