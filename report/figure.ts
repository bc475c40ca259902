/**
 * Charts as static SVG. Each chart is drawn twice, for wide and narrow screens, because text that
 * is scaled down with its drawing becomes unreadable. The style sheet shows one of the two
 * drawings.
 */
import { type PlotOptions, parseHTML, plot } from './bundled/plot.js';
import { type Content, downloads, Html, html } from './page.js';
import type { Sign } from './shared/palette.js';

/** Width in CSS pixels that the style sheet leaves for a chart. */
const widths = { wide: 880, narrow: 350 } as const;

export interface LegendEntry {
  /** CSS colour. */
  color: string;
  text: string;
  /**
   * Dash pattern of a line, '' for a solid line. An entry without `dash` and `sign` is a color
   * patch.
   */
  dash?: string;
  sign?: Sign;
}

export interface Chart {
  title: string;
  /** Chart description, shown below the chart and read aloud by screen readers. */
  caption: string;
  legend?: readonly LegendEntry[];
  /** Links to details in the data. */
  links?: readonly { text: string; href: string }[];
  draw(width: number, narrow: boolean): PlotOptions;
}

export function figure(chart: Chart): Html {
  return html`<figure>
<h3>${chart.title}</h3>
${chart.legend ? legend(chart.legend) : null}${drawn(chart, 'wide')}
${drawn(chart, 'narrow')}
<figcaption>${chart.caption}</figcaption>
${chart.links?.length ? closer(chart.links) : null}${downloads}</figure>
`;
}

function closer(links: NonNullable<Chart['links']>): Html {
  const items = links.map(({ text, href }) => html`<li><a href="${href}">${text}</a></li>\n`);
  return html`<p>Details:</p>
<ul>
${items}</ul>
`;
}

function legend(entries: readonly LegendEntry[]): Content {
  const items = entries.map(
    (entry) =>
      html`<li><svg viewBox="0 0 24 10" aria-hidden="true">${keyOf(entry)}</svg>${entry.text}</li>`,
  );
  return html`<ul class="legend">${items}</ul>\n`;
}

/** Draws a series' legend sample, 24 by 10 pixels. */
function keyOf({ color, dash, sign }: LegendEntry): Html {
  if (dash === undefined && sign === undefined) {
    return html`<rect width="18" height="10" rx="2" style="fill: ${color}"></rect>`;
  }
  const dashed = dash ? `; stroke-dasharray: ${dash}` : '';
  const line = html`<path d="M0 5H24" style="stroke: ${color}; stroke-width: 2.4${dashed}"></path>`;
  const drawn = [dash === undefined ? null : line, sign ? drawnSign(sign, color) : null];
  return html`${drawn}`;
}

function drawnSign(sign: Sign, color: string): Html {
  const paint = sign === 'times' ? `stroke: ${color}; stroke-width: 2` : `fill: ${color}`;
  return html`<path d="${signs[sign]}" style="${paint}"></path>`;
}

const signs: Record<Sign, string> = {
  circle: 'M8 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
  cross: 'M10.5 0.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z',
  times: 'M8 1L16 9M16 1L8 9',
  diamond: 'M12 0L17 5L12 10L7 5z',
  square: 'M8 1h8v8h-8z',
  triangle: 'M12 0.5L17 9.5H7z',
};

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

/** Removes labels that duplicate the chart's label, and rounds coordinates to 0.1 pixels. */
function tidy(part: Part): void {
  for (const name of ['aria-label', 'aria-hidden', 'aria-description']) part.removeAttribute(name);
  for (const name of [...coordinates, ...sizes]) {
    const text = part.getAttribute(name);
    if (text?.includes('.')) part.setAttribute(name, text.replace(/\d+\.\d{2,}/g, tenth));
  }
}

const tenth = (digits: string): string => String(Math.round(Number(digits) * 10) / 10);
