/** Time series from a load run: charts with tables, and the values at the selected step. */
import { useState } from 'preact/hooks';
import type { LoadState } from '../../api/contract/load.js';
import { format, formatMs, plural } from '../../report/shared/format.js';
import { countScale, type Line, Lines, msScale, type Scale } from '../components/chart.js';
import { Figure, Pages, Rows, slicePage } from '../components/lists.js';
import { place, setQuery } from '../route.js';
import { roundShown } from './run.js';

export function OverTime({ load }: { load: LoadState }) {
  const [pointed, point] = useState<number | null>(null);
  const { figures, phase, asked } = load;
  const { width, accepted } = figures!.seconds;
  const steps = accepted.length;
  if (steps === 0) return <p class="faint">No measurements yet.</p>;
  const wanted = secondInAddress();
  const chosen = wanted === null ? null : Math.min(steps - 1, Math.floor(wanted / width));
  const at = Math.min(steps - 1, pointed ?? chosen ?? steps - 1);
  const charts = chartsOf(load);
  // During a test, the axis shows the planned duration.
  const seconds = phase === 'over' ? 0 : asked.duration_s;
  return (
    <>
      {charts.map((chart) => (
        <Timed key={chart.title} {...{ chart, width, seconds, at }} onPoint={point} />
      ))}
      <Moment
        {...{ at, steps, width }}
        columns={charts.map((chart) => chart.columns)}
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
  columns: readonly (readonly Column[])[];
  onChoose(step: number): void;
}

function Moment({ at, steps, width, columns, onChoose }: MomentProps) {
  const from = at * width + 1;
  const name = width === 1 ? `Second ${from}` : `Seconds ${from} to ${from + width - 1}`;
  const read = columns
    .map((group) =>
      group.map((one) => `${one.name} ${one.text(one.values[at] ?? null)}`).join(', '),
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
  chart: Chart;
  /** Seconds per step, and the minimum axis length in seconds. */
  width: number;
  seconds: number;
  /** Selected step. */
  at: number;
  onPoint(step: number | null): void;
}

function Timed({ chart, ...how }: TimedProps) {
  const { title, caption, columns, scale } = chart;
  const label = `${title}. The same data is in the table.`;
  return (
    <Figure
      title={title}
      caption={caption}
      chart={() => <Lines label={label} lines={columns} scale={scale} {...how} />}
      table={() => <TimedTable chart={chart} width={how.width} />}
    />
  );
}

/** The newest first. */
function TimedTable({ chart: { title, columns }, width }: { chart: Chart; width: number }) {
  const [page, turn] = useState(0);
  const steps = columns[0]?.values.length ?? 0;
  const newest = Array.from({ length: steps }, (_, index) => steps - 1 - index);
  const first = width === 1 ? 'second' : `from second, ${width} s each`;
  return (
    <>
      <Rows
        caption={`${title}, newest first`}
        head={[first, ...columns.map(({ name }) => name)]}
        numeric={columns.map((_, index) => index + 1)}
        rows={slicePage(newest, page).map((step) => [
          format(step * width + 1),
          ...columns.map(({ values, text }) => text(values[step] ?? null)),
        ])}
      />
      <Pages of={steps} page={page} onTurn={turn} />
    </>
  );
}

/** A line with the format for its values. */
interface Column extends Line {
  text(value: number | null): string;
}

interface Chart {
  title: string;
  caption: string;
  columns: readonly Column[];
  scale: Scale;
}

function chartsOf(load: LoadState): Chart[] {
  return [
    arrivalChart(load),
    ...(load.figures!.transactions ? [finalizedChart(load)] : []),
    timeChart(load),
  ];
}

const colored = (color: string, dash: string) => ({ color: `var(--${color})`, dash });
const countText = (value: number | null) => format(value === null ? null : roundShown(value));

function arrivalChart({ asked, figures }: LoadState): Chart {
  const { intended, accepted, failed, width } = figures!.seconds;
  const open = asked.loop === 'open';
  const columns: Column[] = [
    ...(open
      ? [{ name: 'intended', ...colored('c8', '5 4'), values: intended, text: countText }]
      : []),
    { name: 'accepted', ...colored('c1', ''), values: accepted, text: countText },
    { name: 'failed', ...colored('c2', '2 3'), values: failed, text: countText },
  ];
  const what =
    figures!.transactions && asked.workload === 'transactions' ? 'Proposals' : 'Arrivals';
  return {
    title: `${what} over time`,
    caption:
      `${what} per second by result. Failed: refused, timed out, broken connection, or a success ` +
      `response without data.${open ? ' Dashed: rate of the schedule.' : ''}` +
      sampleText(width, accepted),
    columns,
    scale: countScale('per second', mostOf(columns)),
  };
}

function finalizedChart({ asked, figures }: LoadState): Chart {
  const { finalized_transactions: values, width } = figures!.seconds;
  const rate = asked.workload === 'transactions' ? asked.rate : null;
  const columns: Column[] = [
    ...(rate === null
      ? []
      : [
          {
            name: 'intended',
            ...colored('c8', '5 4'),
            values: values.map(() => rate),
            text: countText,
          },
        ]),
    { name: 'final', ...colored('c3', ''), values, text: countText },
  ];
  return {
    title: 'Finalized transactions over time',
    caption: `Transactions per second in finalized blocks.${sampleText(width, values)}`,
    columns,
    scale: countScale('per second', mostOf(columns)),
  };
}

function timeChart({ asked, figures }: LoadState): Chart {
  const { response_p50, response_p95, response_p99, lag_max, width } = figures!.seconds;
  const columns: Column[] = [
    { name: 'p99', ...colored('c2', ''), values: response_p99, text: formatMs },
    { name: 'p95', ...colored('c5', '9 3 2 3'), values: response_p95, text: formatMs },
    { name: 'median', ...colored('c1', '7 4'), values: response_p50, text: formatMs },
    { name: 'lag', ...colored('c8', '2 3'), values: lag_max, text: formatMs },
  ];
  const known = columns.flatMap(({ values }) => values.filter((value) => value !== null));
  const scale = msScale(known);
  const how =
    asked.loop === 'open'
      ? 'measured from the scheduled send time.'
      : 'measured from the send time. In a closed loop, a stall of the server shows as a few ' +
        'long times.';
  return {
    title: 'Response times over time',
    caption:
      `Response times in ${scale.name}, ${how} Lag: delay of the load generator; ` +
      `response times include it.` +
      `${scale.logarithmic ? ' Logarithmic axis.' : ''}` +
      ` n = ${plural(response_p50.length, 'point')}` +
      `${width === 1 ? ', one per second.' : `, each the maximum over ${width} s.`}`,
    columns,
    scale,
  };
}

const sampleText = (width: number, { length }: readonly unknown[]) =>
  ` n = ${plural(length, 'point')}, ` +
  `${width === 1 ? 'one per second.' : `each the mean over ${width} s.`}`;

const mostOf = (columns: readonly Column[]) =>
  columns.reduce(
    (most, { values }) => values.reduce<number>((a, b) => Math.max(a, b ?? 0), most),
    0,
  );
