/** Lines over time, told apart by colour and by dashes, with a mark at the moment that is read. */
import { Plot } from './plot.js';
import { evenTicks, type Scale } from './scale.js';

export interface Line {
  name: string;
  /** As a style sheet refers to it. */
  color: string;
  /** Empty for a whole line. */
  dash: string;
  /** One a step; null leaves a gap. */
  values: readonly (number | null)[];
}

interface LinesProps {
  label: string;
  lines: readonly Line[];
  scale: Scale;
  /** Seconds a step. */
  width: number;
  /** Seconds along the foot, at the least: of those that come later nothing is drawn yet. */
  seconds: number;
  /** The step that is read. */
  at: number;
  onPoint(step: number | null): void;
}

const HEIGHT = 230;

export function Lines({ label, lines, scale, width, seconds, at, onPoint }: LinesProps) {
  const drawn = Math.max(1, ...lines.map(({ values }) => values.length));
  const steps = Math.max(drawn, seconds / width);
  return (
    <>
      <ul class="legend">
        {lines.map(({ name, color, dash }) => (
          <li key={name}>
            <svg class="chart-key" width="26" height="10" aria-hidden="true">
              <path d="M0 5H26" stroke={color} stroke-dasharray={dash} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <Plot
        label={label}
        height={HEIGHT}
        scale={scale}
        across="measured time, s"
        ticks={(most) => evenTicks(steps * width, Math.min(most, steps * width))}
        onPoint={(share) =>
          onPoint(share === null ? null : Math.min(drawn - 1, Math.floor(share * steps)))
        }
        draw={({ x, y }) => (
          <>
            <line
              class="here"
              x1={x((at + 0.5) / steps)}
              x2={x((at + 0.5) / steps)}
              y1={y(0)}
              y2={y(1)}
            />
            {lines.map(({ name, color, dash, values }) => (
              <path
                key={name}
                d={pathOf(
                  values,
                  (step) => x(step / steps),
                  (value) => y(scale.place(value)),
                )}
                stroke={color}
                stroke-dasharray={dash}
              />
            ))}
          </>
        )}
      />
    </>
  );
}

/** In the middle of its step; what stands alone is a dash as wide as that. */
function pathOf(
  values: readonly (number | null)[],
  x: (step: number) => number,
  y: (value: number) => number,
): string {
  const there = (step: number) => (values[step] ?? null) !== null;
  const short = (place: number) => place.toFixed(1);
  return values
    .map((value, step) => {
      if (value === null) return '';
      const height = short(y(value));
      const [before, after] = [there(step - 1), there(step + 1)];
      if (!before && !after) return `M${short(x(step))} ${height}H${short(x(step + 1))}`;
      return `${before ? 'L' : 'M'}${short(x(step + 0.5))} ${height}`;
    })
    .join('');
}
