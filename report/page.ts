/**
 * HTML page for a report: escaping templates, the style sheet, the parts that all reports share,
 * and the script that downloads charts.
 */
import { createHash } from 'node:crypto';
import type { Provenance } from './folder.js';
import { format, showInvisible } from './shared/format.js';
import { declarations, palette } from './shared/palette.js';

export class Html {
  constructor(readonly text: string) {}
}

export type Content = Html | string | number | null | readonly Content[];

/** Template tag. Escapes strings, joins lists and omits null. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const texts = parts.map((part, index) => part + textOf(values[index] ?? null));
  return new Html(texts.join(''));
}

function textOf(value: Content): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return escapeHtml(String(value));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML and XML. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => entities[sign]!);

/** Replaces code points that HTML forbids, and makes invisible characters visible. */
function wellFormed(text: string): string {
  const forbidden = /(?![\t\n\r])[\p{Cc}\p{Noncharacter_Code_Point}]/gu;
  return showInvisible(text.toWellFormed().replace(forbidden, '\ufffd'));
}

/*
 * Chart downloads. A script in the page, allowed by its hash, saves a chart as SVG or PNG. The
 * saved file does not depend on the page: it contains light colours, the legend, and the caption as
 * its description.
 */

/** Download links, shown alongside each figure once the script runs. */
export const downloads = html`<p class="downloads" hidden>
<button type="button" data-as="svg">SVG</button>
<button type="button" data-as="png">PNG</button></p>
`;

/** PNG pixels per SVG pixel: 300 dpi at page width. */
const SCALE = 3;

/** Light colours, keyed by CSS variable name. */
const lightColors = Object.fromEntries(
  Object.entries(palette.light).map(([name, color]) => [`--${name}`, color]),
);

// The script runs in the page. Its source must not contain a `<`, which could begin or end a tag.
const source = `
const colors = ${JSON.stringify(lightColors)};
const SVG = 'http://www.w3.org/2000/svg';
const element = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
  if (text) made.textContent = text;
  return made;
};
const font = '12px Helvetica, Arial, sans-serif';
const textWidth = (text) => {
  const context = document.createElement('canvas').getContext('2d');
  context.font = font;
  return context.measureText(text).width;
};
const legendOf = (figure, width) => {
  const group = element('g', {});
  let x = 8;
  let y = 0;
  for (const item of figure.querySelectorAll('.legend li')) {
    const text = item.textContent.trim();
    const wide = 30 + textWidth(text) + 16;
    if (x > 8 && x + wide > width) { x = 8; y += 18; }
    const key = item.querySelector('svg').cloneNode(true);
    for (const [name, value] of Object.entries({ x, y: y + 4, width: 24, height: 10 }))
      key.setAttribute(name, value);
    key.setAttribute('fill', 'none');
    group.append(key, element('text', { x: x + 30, y: y + 13 }, text));
    x += wide;
  }
  return { group, height: group.childNodes.length ? y + 24 : 0 };
};
const pictureOf = (figure) => {
  const plot = figure.querySelector('svg.plot.wide').cloneNode(true);
  const width = Number(plot.getAttribute('width'));
  const { group, height: above } = legendOf(figure, width);
  const height = Number(plot.getAttribute('height')) + above;
  const size = { width, height, viewBox: [0, 0, width, height].join(' ') };
  const style = 'color: ' + colors['--ink'] + '; font: ' + font + '; fill: currentColor';
  const picture = element('svg', { ...size, style });
  picture.append(element('title', {}, figure.querySelector('h3').textContent));
  picture.append(element('desc', {}, figure.querySelector('figcaption').textContent));
  picture.append(element('style', {}, 'text { white-space: pre }'));
  picture.append(element('rect', { width, height, fill: colors['--paper'] }));
  for (const name of ['class', 'role', 'aria-label']) plot.removeAttribute(name);
  plot.setAttribute('y', above);
  picture.append(group, plot);
  const text = new XMLSerializer().serializeToString(picture);
  const own = text.replace(/var\\((--[a-z0-9]+)\\)/g, (_, name) => colors[name]);
  return { width, height, text: own };
};
const save = (blob, name) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};
const savePng = ({ width, height, text }, name) => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = width * ${SCALE};
    canvas.height = height * ${SCALE};
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name), 'image/png');
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
};
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
document.addEventListener('click', ({ target }) => {
  const as = target.dataset && target.dataset.as;
  if (!as) return;
  const figure = target.closest('figure');
  const picture = pictureOf(figure);
  const name = (slug(figure.querySelector('h3').textContent) || 'figure') + '.' + as;
  if (as === 'png') savePng(picture, name);
  else save(new Blob([picture.text], { type: 'image/svg+xml' }), name);
});
for (const shown of document.querySelectorAll('.downloads')) shown.hidden = false;
`;

/** Script element for the end of the page. */
const script = new Html(`<script>${source}</script>`);

/** Hash of the only script that the content security policy allows. */
const scriptHash = `sha256-${createHash('sha256').update(source).digest('base64')}`;

/**
 * Policy under which the page fetches nothing and runs only the above script, regardless of the
 * texts in the page.
 */
const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src '${scriptHash}'`,
  'img-src data:',
].join('; ');

export function page(title: string, parts: readonly Content[]): string {
  const whole = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
${parts}
</main>
${script}
</body>
</html>
`;
  return wellFormed(whole.text);
}

export function section(title: string, ...parts: readonly Content[]): Html {
  return html`<section>
<h2>${title}</h2>
${parts}
</section>
`;
}

/** Column of a table, with its name. A name alone is a column of short texts. */
export type Column = string | { name: string; kind: 'number' | 'text' };

/** Right-aligned column. */
export const numberColumn = (name: string): Column => ({ name, kind: 'number' });
/** Column of long texts, which may break anywhere. */
export const textColumn = (name: string): Column => ({ name, kind: 'text' });

export interface TableOptions {
  /** Number of rows to show. Default: all. */
  most?: number;
  /** Where a reader finds the other rows, such as `runs.csv`. */
  rest?: string;
  /** Summary of the fold that hides the table. Default: the table is visible. */
  fold?: string;
}

/**
 * Builds a table. Each row's first cell is its header. A wide table scrolls horizontally, even by
 * keyboard.
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  { most = rows.length, rest, fold }: TableOptions = {},
): Html {
  const left = rows.length - most;
  const shown = html`${tableElement(caption, columns, rows.slice(0, most))}${
    left > 0 ? html`<p>${format(left)} more: see ${rest ?? null}.</p>\n` : null
  }`;
  return fold === undefined
    ? shown
    : html`<details>\n<summary>${fold}</summary>\n${shown}</details>\n`;
}

function tableElement(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
): Html {
  const described = columns.map((column) =>
    typeof column === 'string' ? { name: column, kind: 'plain' } : column,
  );
  const head = described.map(
    ({ name, kind }) => html`<th scope="col" class="${kind}">${breakable(name)}</th>`,
  );
  const body = rows.map((cells) => {
    const [first, ...rest] = cells.map((cell, index) => {
      const { kind } = described[index]!;
      return index === 0
        ? html`<th scope="row" class="${kind}">${cell}</th>`
        : html`<td class="${kind}">${cell}</td>`;
    });
    return html`<tr>${first ?? null}${rest}</tr>\n`;
  });
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table>
</div>
`;
}

/** Allows line breaks after `_` and `.`. */
const breakable = (name: string): Content =>
  name.split(/(?<=[_.])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));

export interface Fact {
  name: string;
  value: Content;
  /** True if the element takes the full width. */
  wide?: boolean;
}

export function facts(list: readonly Fact[]): Html {
  const entries = list.map(
    ({ name, value, wide }) =>
      html`<div class="${wide ? 'wide-fact' : 'fact'}"><dt>${name}</dt><dd>${value}</dd></div>\n`,
  );
  return html`<dl>
${entries}</dl>
`;
}

export const code = (text: string): Html => html`<code>${breakable(text)}</code>`;

/** Code block that scrolls horizontally. */
export const listing = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>\n`;

export function madeBy({ version, commit, node }: Partial<Provenance>): Html {
  const made = [
    version === undefined ? 'folkmoot' : `folkmoot ${version}`,
    commit ? `commit ${commit}` : null,
    node === undefined ? null : `Node ${node}`,
  ];
  return html`<footer>
<p>Run ${code('npx folkmoot')} in a checkout of folkmoot, after ${code('npm ci')}. Anywhere else,
install the package first: ${code('npm pack')} in a checkout builds
${code(`folkmoot-${version ?? 'VERSION'}.tgz`)}, and ${code('npm install')} with the path of that
file installs it.</p>
<p>${made.filter((part) => part !== null).join(', ')}</p>
</footer>\n`;
}

const light = declarations('light');
const dark = declarations('dark');

const style = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 8px; }
h2 { font-size: 1.25rem; margin: 48px 0 12px; padding-bottom: 4px;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 0 0 6px; }
p { margin: 8px 0; max-width: 75ch; }
a { color: var(--link); }
code, pre { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 6px; margin: 8px 0;
  padding: 10px 12px; overflow-x: auto; overflow-wrap: normal; }
summary { cursor: pointer; margin: 8px 0; }
.lead, .faint, figcaption { color: var(--faint); }
.lead { font-size: 1.08rem; margin-top: 0; white-space: pre-line; }
.verdict { border-left: 6px solid var(--good); background: var(--shade); padding: 10px 14px;
  margin: 20px 0; border-radius: 0 6px 6px 0; }
.verdict.bad { border-color: var(--bad); }
.verdict.mixed { border-color: var(--faint); }
.verdict p { margin: 4px 0; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 12px 20px;
  margin: 16px 0; }
dl div { min-width: 0; }
dl .wide-fact { grid-column: 1 / -1; }
dt { color: var(--faint); font-size: 0.85rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
figure { margin: 28px 0; break-inside: avoid; }
figcaption { font-size: 0.92rem; max-width: 75ch; margin-top: 6px; }
.plot { display: block; max-width: 100%; height: auto; }
.plot text, .plot tspan { white-space: pre; }
.plot.narrow { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; padding: 0;
  margin: 0 0 6px; font-size: 0.9rem; }
.legend svg { width: 24px; height: 10px; margin-right: 6px; fill: none; }
.warning { border-left: 4px solid var(--bad); padding-left: 10px; }
[hidden] { display: none; }
.downloads { margin: 4px 0 0; }
.downloads button { font: inherit; font-size: 0.82rem; padding: 1px 10px; color: var(--faint);
  background: var(--paper); border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.scroll { overflow-x: auto; }
@media screen and (min-width: 1200px) {
  main { max-width: 1480px; }
  section:has(> figure ~ figure) { display: grid; gap: 0 48px;
    grid-template-columns: repeat(2, minmax(0, 1fr)); }
  section > :not(figure) { grid-column: 1 / -1; }
  section:has(> figure ~ figure) .plot { width: 100%; font-size: 14px; }
}
table { border-collapse: collapse; width: 100%; font-size: 0.9rem;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; color: var(--faint); padding-bottom: 6px; }
th, td { text-align: left; vertical-align: top; padding: 5px 14px 5px 0;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
.number { text-align: right; }
.whole { white-space: nowrap; }
.text { overflow-wrap: anywhere; min-width: 150px; }
footer { margin-top: 48px; color: var(--faint); font-size: 0.88rem; }
@media (max-width: 640px) {
  main { padding: 16px 14px 40px; }
  h1 { font-size: 1.4rem; }
  .plot.wide { display: none; }
  .plot.narrow { display: block; }
  th, td { padding-right: 10px; }
}
@media print {
  .downloads { display: none; }
  :root { color-scheme: light; ${light} }
  main { max-width: none; padding: 0; }
  .plot.wide { display: block; }
  .plot.narrow { display: none; }
  body { font-size: 11pt; }
  h2 { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
`;
