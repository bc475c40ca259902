/** One picture of what happened second by second, and its table. */
import { useState } from 'preact/hooks';
import { shown } from '../../../report/shared/numbers.js';
import { Lines } from '../../parts/chart/lines.js';
import { Figure, Rows } from '../../parts/lists/figure.js';
import { Pages, pageOf } from '../../parts/lists/pages.js';
import type { Chart } from './columns.js';

interface TimedProps {
  chart: Chart;
  /** Seconds a step, and seconds along the foot at the least. */
  width: number;
  seconds: number;
  /** The step that is read. */
  at: number;
  onPoint(step: number | null): void;
}

export function Timed({ chart, ...how }: TimedProps) {
  const { title, caption, columns, scale } = chart;
  const label = `${title}. The table has the figures.`;
  return (
    <Figure
      title={title}
      caption={caption}
      picture={() => <Lines label={label} lines={columns} scale={scale} {...how} />}
      table={() => <Table chart={chart} width={how.width} />}
    />
  );
}

/** The newest first. */
function Table({ chart: { title, columns }, width }: { chart: Chart; width: number }) {
  const [page, turn] = useState(0);
  const steps = columns[0]?.values.length ?? 0;
  const newest = Array.from({ length: steps }, (_, index) => steps - 1 - index);
  const first = width === 1 ? 'second' : `from second, ${width} each`;
  return (
    <>
      <Rows
        caption={`${title}, the newest first`}
        head={[first, ...columns.map(({ name }) => name)]}
        numeric={columns.map((_, index) => index + 1)}
        rows={pageOf(newest, page).map((step) => [
          shown(step * width + 1),
          ...columns.map(({ values, text }) => text(values[step] ?? null)),
        ])}
      />
      <Pages of={steps} page={page} onTurn={turn} />
    </>
  );
}
