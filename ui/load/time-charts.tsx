/** Time series from a load run: charts with tables, and the values at the selected step. */
import { useState } from 'preact/hooks';
import type { LoadChart, LoadSeries, LoadState } from '../../api/contract/load.js';
import { format, formatValue, LOGARITHMIC } from '../../report/shared/format.js';
import { countScale, Lines, msScale } from '../components/chart.js';
import { Figure, Pages, Rows, slicePage } from '../components/lists.js';
import { place, setQuery } from '../route.js';

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
