/** The columns that a load run's pictures draw and its tables list, and what is said of them. */
import type { LoadShown } from '../../../api/view/load.js';
import { shown, time } from '../../../report/shared/numbers.js';
import type { Line } from '../../parts/chart/lines.js';
import { countScale, msScale, type Scale } from '../../parts/chart/scale.js';
import { rounded } from './words.js';

/** A line, and its values in words. */
export interface Column extends Line {
  text(value: number | null): string;
}

export interface Chart {
  title: string;
  caption: string;
  columns: readonly Column[];
  scale: Scale;
}

/** Whatever there is to be drawn of a run. */
export function chartsOf(load: LoadShown): Chart[] {
  return [arrivals(load), ...(load.figures!.transactions ? [finalized(load)] : []), times(load)];
}

const colored = (color: string, dash: string) => ({ color: `var(--${color})`, dash });
const count = (value: number | null) => shown(value === null ? null : rounded(value));

function arrivals({ asked, figures }: LoadShown): Chart {
  const { intended, accepted, failed, width } = figures!.seconds;
  const open = asked.loop === 'open';
  const columns: Column[] = [
    ...(open ? [{ name: 'asked', ...colored('c8', '5 4'), values: intended, text: count }] : []),
    { name: 'accepted', ...colored('c1', ''), values: accepted, text: count },
    { name: 'failed', ...colored('c2', '2 3'), values: failed, text: count },
  ];
  const what =
    figures!.transactions && asked.workload === 'transactions' ? 'Proposals' : 'Arrivals';
  return {
    title: `${what} over time`,
    caption:
      `${what} a second that were accepted, and that were refused, timed out, broke or got a lie` +
      `${open ? '; the dashed line is what the schedule asked for' : ''}.${meanOf(width)}`,
    columns,
    scale: countScale('a second', mostOf(columns)),
  };
}

function finalized({ asked, figures }: LoadShown): Chart {
  const { finalized_transactions: values, width } = figures!.seconds;
  const rate = asked.workload === 'transactions' ? asked.rate : null;
  const columns: Column[] = [
    ...(rate === null
      ? []
      : [{ name: 'asked', ...colored('c8', '5 4'), values: values.map(() => rate), text: count }]),
    { name: 'final', ...colored('c3', ''), values, text: count },
  ];
  return {
    title: 'Finalized transactions over time',
    caption: `Transactions a second that were seen in finalized blocks.${meanOf(width)}`,
    columns,
    scale: countScale('a second', mostOf(columns)),
  };
}

function times({ asked, figures }: LoadShown): Chart {
  const { response_p50, response_p95, response_p99, lag_max, width } = figures!.seconds;
  const columns: Column[] = [
    { name: 'p99', ...colored('c2', ''), values: response_p99, text: time },
    { name: 'p95', ...colored('c5', '9 3 2 3'), values: response_p95, text: time },
    { name: 'median', ...colored('c1', '7 4'), values: response_p50, text: time },
    { name: 'lag', ...colored('c8', '2 3'), values: lag_max, text: time },
  ];
  const known = columns.flatMap(({ values }) => values.filter((value) => value !== null));
  const scale = msScale(known);
  const how =
    asked.loop === 'open'
      ? 'Times run from when the schedule meant to send, so a server that stalls cannot hide it.'
      : 'In a closed loop nothing is sent while all wait: a stall shows as few long times.';
  return {
    title: 'Response times over time',
    caption:
      `${how} The lag is by how much the generator itself was late: where it is as high as the ` +
      `response times, they are not the server’s.` +
      `${width === 1 ? '' : ` Each point is the longest of ${width} seconds.`}` +
      `${scale.logarithmic ? ' The axis is logarithmic.' : ''}`,
    columns,
    scale,
  };
}

const meanOf = (width: number) =>
  width === 1 ? '' : ` Each point is the mean of ${width} seconds.`;

const mostOf = (columns: readonly Column[]) =>
  columns.reduce(
    (most, { values }) => values.reduce<number>((a, b) => Math.max(a, b ?? 0), most),
    0,
  );
