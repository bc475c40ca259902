/** What happened second by second, and one moment of it in words. */
import { useState } from 'preact/hooks';
import type { LoadShown } from '../../../api/view/load.js';
import { place, setQuery } from '../../route/router.js';
import { type Column, chartsOf } from './columns.js';
import { Timed } from './timed.js';

export function OverTime({ load }: { load: LoadShown }) {
  const [pointed, point] = useState<number | null>(null);
  const { figures, phase, asked } = load;
  const { width, accepted } = figures!.seconds;
  const steps = accepted.length;
  if (steps === 0) return <p class="faint">No second of the measured time is over yet.</p>;
  const wanted = secondInAddress();
  const chosen = wanted === null ? null : Math.min(steps - 1, Math.floor(wanted / width));
  const at = Math.min(steps - 1, pointed ?? chosen ?? steps - 1);
  const charts = chartsOf(load);
  // What is left of a run that goes on is empty.
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

/** The second that the address names; null for the last one. */
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
        <span>Read at</span>
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
