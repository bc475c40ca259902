/** What was not accepted: a bar for each code, parted by the operation. */
import type { Chart } from '../../../../report/figure.js';
import { shown } from '../../../../report/shared/numbers.js';
import { colorOf } from '../../../../report/shared/palette.js';
import { type Failure, failures } from '../../figures/tables.js';
import type { Operation } from '../../result.js';
import { namedBars } from './bars.js';

const MOST_CODES = 20;

/** Null when everything was accepted. */
export function errorsChart(operations: readonly Operation[]): Chart | null {
  const all = operations.flatMap((operation, index) =>
    failures(operation).map((failure) => ({
      name: nameOf(failure),
      value: failure.count,
      color: colorOf(index),
      operation: operation.operation,
    })),
  );
  if (all.length === 0) return null;
  const totals = new Map<string, number>();
  for (const { name, value } of all) totals.set(name, (totals.get(name) ?? 0) + value);
  const sorted = [...totals].sort(([, a], [, b]) => b - a);
  const labels = new Map(
    sorted.slice(0, MOST_CODES).map(([name, count]) => [name, `${name}: ${shown(count)}`]),
  );
  const failing = operations.filter((one) => failures(one).length > 0);
  const left = sorted.length - labels.size;
  const [first] = labels.values();
  return {
    title: 'What was not accepted',
    caption:
      `Requests by what became of them: the code of the refusal and its reason, or how they ` +
      `ended without an answer that counts. ${first}, the most frequent.` +
      (left > 0 ? ` ${left} rarer codes are in errors.csv.` : ''),
    legend: operations.flatMap((one, index) =>
      failing.includes(one) ? [{ color: colorOf(index), text: one.operation }] : [],
    ),
    draw: () =>
      namedBars(
        all.filter(({ name }) => labels.has(name)),
        labels,
        'requests',
      ),
  };
}

const words = {
  lie: 'success without its data',
  timed_out: 'timed out',
  broken: 'connection broke',
  unfinished: 'unfinished at the end',
} as const;

export function nameOf({ what, status, code, reason }: Failure): string {
  if (what !== 'refused') return words[what];
  const named = [code, reason].filter((part) => part !== '-').map((part) => part!.slice(0, 40));
  return [status, ...named].join(' ');
}
