/**
 * Facts, tables and charts of a load run: lines over time with the axes of its report, failures as
 * bars, and the search as dots.
 */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type {
  LoadChart,
  LoadFacts,
  LoadSeries,
  LoadState,
  LoadTable,
} from '../../api/contract/load.js';
import {
  format,
  formatTick,
  formatValue,
  LOGARITHMIC,
  timeScale,
} from '../../report/shared/format.js';
import { getColor } from '../../report/shared/palette.js';
import { cleanText, useWidth } from '../components/labels.js';
import { Fact, Figure, Pages, Panel, Rows, Scroll, slicePage } from '../components/lists.js';
import { place, setQuery } from '../route.js';

const MOST_TEXT = 200;

export const FactPanel = ({ facts: { title, rows } }: { facts: LoadFacts }) => (
  <Panel title={title}>
    <dl class="facts">
      {rows.map(({ name, value, unit, note }) => (
        <Fact key={name} name={name}>
          <bdi>{cleanText(formatValue(value, unit), MOST_TEXT)}</bdi>
          {note !== '' && <span class="faint"> ({cleanText(note, MOST_TEXT)})</span>}
        </Fact>
      ))}
    </dl>
  </Panel>
);

export const TablePanel = ({ table }: { table: LoadTable }) => (
  <Panel title={table.title}>
    <Scroll name={`${table.title}, as a table`}>
      <Cells table={table} />
    </Scroll>
  </Panel>
);

function Cells({ table: { title, note, columns, rows } }: { table: LoadTable }) {
  return (
    <>
      <Rows
        caption={title}
        head={columns.map(({ name }) => name)}
        numeric={columns.flatMap(({ unit }, index) => (unit === 'text' ? [] : index))}
        rows={rows.map((cells) =>
          cells.map((cell, index) => (
            <bdi key={index}>{cleanText(formatValue(cell, columns[index]!.unit), MOST_TEXT)}</bdi>
          )),
        )}
      />
      {note !== '' && <p>{note}</p>}
    </>
  );
}

const BARS = 8;

export function Failures({ table }: { table: LoadTable }) {
  const bars = table.rows.slice(0, BARS).map(([operation, ...cells]) => {
    const why = cells.slice(0, 4).filter((cell) => cell !== null && cell !== 'refused');
    return { text: `${operation}: ${why.join(' ')}`, count: Number(cells[4]) };
  });
  const most = bars[0]!.count;
  return (
    <Figure
      title={table.title}
      caption="Requests that were not accepted, by status, code and reason, or by how they ended."
      chart={() => (
        <ul class="load-bars">
          {bars.map(({ text, count }, index) => (
            <li key={index}>
              <span>
                <bdi>{cleanText(text, MOST_TEXT)}</bdi>
              </span>
              <b>{format(count)}</b>
              <i style={{ width: `${(100 * count) / most}%` }} />
            </li>
          ))}
        </ul>
      )}
      table={() => <Cells table={table} />}
    />
  );
}

interface SearchProps {
  /** Absent before the first probe ended. */
  table: LoadTable | undefined;
  /** Rate under test; null between two probes. */
  rate: number | null;
}

export function Search({ table, rate }: SearchProps) {
  const dots = (table?.rows ?? []).map(([bracket, asked, had, , holds]) => ({
    ...{ asked: Number(asked), had: Number(had), full: holds === 'yes' },
    series: Number(bracket) - 1,
  }));
  const most = dots.reduce((top, one) => Math.max(top, one.asked, one.had), rate ?? 0);
  const brackets = [...new Set(dots.map(({ series }) => series))];
  return (
    <Figure
      title="Search for the sustained rate"
      caption={
        'Accepted and scheduled rate of each probe: filled if the rate held, hollow if not. ' +
        'On the dashed line all arrivals were accepted.'
      }
      chart={() => (
        <>
          <ul class="load-brackets">
            {rate !== null && <li>Testing {formatValue(rate, 'per_s')}.</li>}
            {brackets.map((series) => (
              <li key={series}>
                <DotKey series={series} /> bracket {series + 1}
              </li>
            ))}
          </ul>
          {dots.length === 0 ? (
            <p class="faint">No finished probes yet.</p>
          ) : (
            <Dots
              label="Accepted and scheduled rates. The same data is in the table."
              dots={dots}
              scale={countScale('accepted per second', most)}
              most={most}
              across="scheduled per second"
            />
          )}
        </>
      )}
      table={() => (table ? <Cells table={table} /> : <p class="faint">No finished probes yet.</p>)}
    />
  );
}

export function OverTime({ load, series }: { load: LoadState; series: LoadSeries }) {
  const [pointed, point] = useState<number | null>(null);
  const { phase, planned_s } = load;
  const { width, charts } = series;
  const steps = charts[0]?.lines[0]?.values.length ?? 0;
  if (steps === 0) return <p class="faint">No measurements yet.</p>;
  const wanted = secondInAddress();
  const chosen = wanted === null ? null : Math.min(steps - 1, Math.floor(wanted / width));
  const at = Math.min(steps - 1, pointed ?? chosen ?? steps - 1);
  // During a test, the axis shows the planned duration.
  const seconds = phase === 'over' ? 0 : planned_s;
  return (
    <>
      {charts.map((chart) => (
        <Timed key={chart.title} {...{ chart, width, seconds, at }} onPoint={point} />
      ))}
      <Moment
        {...{ at, steps, width }}
        charts={charts}
        onChoose={(step) => setQuery({ at: step === steps - 1 ? null : String(step * width) })}
      />
    </>
  );
}

/** Returns the selected second from the address, or null for the last second. */
function secondInAddress(): number | null {
  const at = place.value.query.get('at');
  return at !== null && /^\d{1,7}$/.test(at) ? Number(at) : null;
}

interface MomentProps {
  at: number;
  steps: number;
  width: number;
  charts: readonly LoadChart[];
  onChoose(step: number): void;
}

function Moment({ at, steps, width, charts, onChoose }: MomentProps) {
  const from = at * width + 1;
  const name = width === 1 ? `Second ${from}` : `Seconds ${from} to ${from + width - 1}`;
  const read = charts
    .map(({ unit, lines }) =>
      lines.map((one) => `${one.name} ${formatValue(one.values[at] ?? null, unit)}`).join(', '),
    )
    .join('; ');
  return (
    <div class="panel load-moment">
      <label>
        <span>Selected time</span>
        <input
          type="range"
          min={0}
          max={steps - 1}
          value={at}
          aria-valuetext={`${name}: ${read}`}
          onInput={({ currentTarget }) => onChoose(Number(currentTarget.value))}
        />
      </label>
      <p>
        <b>{name}</b>: {read}.
      </p>
    </div>
  );
}

interface TimedProps {
  chart: LoadChart;
  /** Seconds per step, and the minimum axis length in seconds. */
  width: number;
  seconds: number;
  /** Selected step. */
  at: number;
  onPoint(step: number | null): void;
}

function Timed({ chart, ...how }: TimedProps) {
  const { title, caption, unit } = chart;
  const lines = chart.lines.map((one) => ({ ...one, color: `var(--${one.color})` }));
  const values = lines.flatMap((one) => one.values.filter((value) => value !== null));
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const scale = unit === 'ms' ? msScale(values) : countScale('per second', most);
  const label = `${title}. The same data is in the table.`;
  return (
    <Figure
      title={title}
      caption={scale.logarithmic ? `${caption} ${LOGARITHMIC}` : caption}
      chart={() => <Lines label={label} lines={lines} scale={scale} {...how} />}
      table={() => <TimedTable chart={chart} width={how.width} />}
    />
  );
}

/** The newest first. */
function TimedTable({ chart, width }: { chart: LoadChart; width: number }) {
  const { title, unit, lines } = chart;
  const [page, turn] = useState(0);
  const steps = lines[0]!.values.length;
  const newest = Array.from({ length: steps }, (_, index) => steps - 1 - index);
  const first = width === 1 ? 'second' : `from second, ${width} s each`;
  return (
    <>
      <Rows
        caption={`${title}, newest first`}
        head={[first, ...lines.map(({ name }) => name)]}
        numeric={lines.map((_, index) => index + 1)}
        rows={slicePage(newest, page).map((step) => [
          format(step * width + 1),
          ...lines.map(({ values }) => formatValue(values[step] ?? null, unit)),
        ])}
      />
      <Pages of={steps} page={page} onTurn={turn} />
    </>
  );
}

/** Axis label, with its position as a fraction of the axis. */
interface Tick {
  at: number;
  text: string;
}

interface Scale {
  /** Unit, shown above the axis. */
  name: string;
  /** Maps a value to the range from 0 (bottom) to 1 (top), clamped. */
  place(value: number): number;
  ticks: readonly Tick[];
  logarithmic: boolean;
}

const STEPS = 5;

/** Returns a linear scale from 0. */
function countScale(name: string, most: number): Scale {
  const top = most > 0 ? most * 1.06 : 1;
  const place = (value: number) => inside(value / top);
  return { name, place, ticks: evenTicks(top, STEPS), logarithmic: false };
}

/** Returns the time scale that reports use: logarithmic if the range is wide. */
function msScale(times: readonly number[]): Scale {
  const { wide, unit, least, axis } = timeScale(times.length > 0 ? times : [1]);
  const [from, to] = axis.domain;
  const place = (ms: number) => {
    const here = Math.max(ms, least) / unit.ms;
    return inside(wide ? Math.log(here / from) / Math.log(to / from) : here / to);
  };
  const written = (value: number): Tick => ({ at: place(value * unit.ms), text: format(value) });
  const ticks = Array.isArray(axis.ticks) ? axis.ticks.map(written) : evenTicks(to, STEPS);
  return { name: unit.name, place, ticks, logarithmic: wide };
}

/** Returns about `steps` ticks from 0, spaced by 1, 2 or 5 times a power of ten. */
function evenTicks(most: number, steps: number): Tick[] {
  const least = most / steps;
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = ten * ([1, 2, 5, 10].find((part) => part * ten >= least) ?? 10);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => {
    const value = Number((index * step).toPrecision(12));
    return { at: value / most, text: formatTick(value) };
  });
}

const inside = (share: number) => Math.min(1, Math.max(0, share));

interface Plane {
  /** Converts a fraction of the width (from the left) or height (from the bottom) to pixels. */
  x(share: number): number;
  y(share: number): number;
}

interface PlotProps {
  /** Description for screen readers. */
  label: string;
  height: number;
  scale: Scale;
  /** Name and ticks of the horizontal axis. */
  across: string;
  ticks(most: number): readonly Tick[];
  /**
   * Called with the pointer position as a fraction of the width, or null when the pointer leaves.
   */
  onPoint?(share: number | null): void;
  draw(plane: Plane): ComponentChildren;
}

const room = { left: 52, right: 24, top: 24, bottom: 40 };
/** Minimum distance between two ticks, in pixels. */
const TICK_ROOM = 80;

function Plot({ label, height, scale, across, ticks, onPoint, draw }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
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

interface Line {
  name: string;
  /** CSS color. */
  color: string;
  /** SVG dash array; empty for a solid line. */
  dash: string;
  /** One value per step; null leaves a gap. */
  values: readonly (number | null)[];
}

interface LinesProps {
  label: string;
  lines: readonly Line[];
  scale: Scale;
  /** Seconds per step. */
  width: number;
  /** Minimum length of the horizontal axis, in seconds: the planned duration of a running test. */
  seconds: number;
  /** Selected step. */
  at: number;
  onPoint(step: number | null): void;
}

const LINES_HEIGHT = 230;

function Lines({ label, lines, scale, width, seconds, at, onPoint }: LinesProps) {
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
        height={LINES_HEIGHT}
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

/**
 * Draws each value in the middle of its step. An isolated value becomes a dash as wide as its step.
 */
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

interface Dot {
  asked: number;
  had: number;
  full: boolean;
  /** Index of the color and shape. */
  series: number;
}

interface DotsProps {
  label: string;
  dots: readonly Dot[];
  /** Scale of both axes. The two values are equal on the dashed line. */
  scale: Scale;
  most: number;
  across: string;
}

const DOTS_HEIGHT = 260;

/** SVG paths, centered at 0, 0. */
const dotShapes = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z',
  'M-4-4H4V4H-4Z',
  'M0-5.5L5.5 0 0 5.5-5.5 0Z',
  'M0-5L5 4H-5Z',
] as const;

function Dots({ label, dots, scale, most, across }: DotsProps) {
  return (
    <Plot
      label={label}
      height={DOTS_HEIGHT}
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
  const color = getColor(series);
  const style = { fill: full ? color : 'none' };
  return <path class="dot" d={dotShapes[series % dotShapes.length]} stroke={color} style={style} />;
}

/** Legend mark for a series. */
const DotKey = ({ series }: Pick<Dot, 'series'>) => (
  <svg class="chart-key" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
    <DotShape series={series} full />
  </svg>
);
