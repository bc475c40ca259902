/** Bars with their names above them: names may be long, and screens narrow. */
import { axisX, barX, gridX, type PlotOptions, ruleX, text } from '@observablehq/plot';
import { tick } from '../../../../report/shared/numbers.js';

export interface Bar {
  /** Bars of one name stand one after another. */
  name: string;
  value: number;
  /** A CSS colour. */
  color: string;
}

/** @param labels of each name, in the order from top to bottom. */
export function namedBars(
  bars: readonly Bar[],
  labels: ReadonlyMap<string, string>,
  axis: string,
): PlotOptions {
  const names = [...labels].map(([name, label]) => ({ name, label }));
  return {
    height: 44 * names.length + 56,
    marginLeft: 12,
    marginTop: 10,
    marginRight: 24,
    y: { domain: names.map(({ name }) => name), axis: null, padding: 0 },
    color: { type: 'identity' },
    marks: [
      gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
      axisX({ ticks: 5, tickFormat: tick, label: axis, labelOffset: 42 }),
      barX(bars, { x: 'value', y: 'name', fill: 'color', insetTop: 24, insetBottom: 4 }),
      ruleX([0], { stroke: 'var(--faint)' }),
      text(names, {
        x: 0,
        y: 'name',
        text: 'label',
        textAnchor: 'start',
        dx: 6,
        dy: -10,
        fill: 'currentColor',
        stroke: 'var(--paper)',
        strokeWidth: 3,
      }),
    ],
  };
}
