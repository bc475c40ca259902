/**
 * Charts as static SVG. Each is drawn twice, for wide and for narrow screens, because text that is
 * scaled down with its picture cannot be read; the style sheet shows one of them.
 */
import { type PlotOptions, plot } from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { type Content, Html, html } from './html.js';
import { downloads } from './look/download.js';

/** Pixels, as CSS counts them: what the style sheet leaves for a chart. */
const widths = { wide: 880, narrow: 350 } as const;

export interface LegendEntry {
  /** A CSS colour. */
  color: string;
  text: string;
}

export interface Chart {
  title: string;
  /** What one sees, in words: under the chart, and instead of it for those who cannot see. */
  caption: string;
  legend?: readonly LegendEntry[];
  draw(width: number, narrow: boolean): PlotOptions;
}

/** The colours of the style sheet, in the order in which they are given out. */
const colors = Array.from({ length: 8 }, (_, index) => `var(--c${index + 1})`);

export const OTHERS = colors[7]!;
/** How many things can have a colour of their own. */
export const COLORED = 7;
export const colorOf = (index: number): string => (index < COLORED ? colors[index]! : OTHERS);

export function figure(chart: Chart): Html {
  return html`<figure>
<h3>${chart.title}</h3>
${chart.legend ? legend(chart.legend) : null}${drawn(chart, 'wide')}
${drawn(chart, 'narrow')}
<figcaption>${chart.caption}</figcaption>
${downloads}</figure>
`;
}

function legend(entries: readonly LegendEntry[]): Content {
  const items = entries.map(
    ({ color, text }) =>
      html`<li><svg viewBox="0 0 18 10" aria-hidden="true">
<rect width="18" height="10" rx="2" style="fill: ${color}"></rect></svg>${text}</li>`,
  );
  return html`<ul class="legend">${items}</ul>\n`;
}

function drawn(chart: Chart, size: keyof typeof widths): Html {
  const { document } = parseHTML('<!DOCTYPE html><html><body></body></html>');
  const width = widths[size];
  const svg = plot({
    document,
    className: 'plot',
    marginBottom: 46,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    ...chart.draw(width, size === 'narrow'),
    width,
  });
  svg.querySelector('style')?.remove();
  for (const part of svg.querySelectorAll('*')) tidy(part);
  svg.setAttribute('class', `plot ${size}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${chart.title}. ${chart.caption}`);
  return new Html(svg.outerHTML);
}

const coordinates = ['d', 'transform', 'x', 'x1', 'x2', 'y', 'y1', 'y2', 'cx', 'cy'] as const;
const sizes = ['width', 'height'] as const;

interface Part {
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
}

/** The picture has one name, its own; and a tenth of a pixel is as fine as anybody sees. */
function tidy(part: Part): void {
  for (const name of ['aria-label', 'aria-hidden', 'aria-description']) part.removeAttribute(name);
  for (const name of [...coordinates, ...sizes]) {
    const text = part.getAttribute(name);
    if (text?.includes('.')) part.setAttribute(name, text.replace(/\d+\.\d{2,}/g, tenth));
  }
}

const tenth = (digits: string): string => String(Math.round(Number(digits) * 10) / 10);
