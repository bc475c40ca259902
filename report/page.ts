/** The page around a report's parts, and the parts that all reports have. */
import { type Content, Html, html, wellFormed } from './html.js';
import { script, scriptHash } from './look/download.js';
import { style } from './look/style.js';
import type { Provenance } from './provenance.js';

/** Nothing is fetched, and no script runs but ours, whatever the page holds. */
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

export interface Column {
  name: string;
  /** Numbers stand at the right; long texts may break anywhere. */
  kind?: 'number' | 'text';
}

/** The first cell of each row is its head. A wide table scrolls by itself, by keyboard too. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
): Html {
  const head = columns.map(
    ({ name, kind }) => html`<th scope="col" class="${kind ?? 'plain'}">${breakable(name)}</th>`,
  );
  const body = rows.map((cells) => {
    const [first, ...rest] = cells.map((cell, index) => {
      const kind = columns[index]!.kind ?? 'plain';
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

/** A name in which lines may break, at its joints. */
export const breakable = (name: string): Content =>
  name.split(/(?<=[_.])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));

export interface Fact {
  name: string;
  value: Content;
  /** Takes the whole width. */
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

/** A block of code that scrolls by itself. */
export const listing = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>\n`;

export function madeBy({ version, commit, node }: Partial<Provenance>): Html {
  const made = [
    version === undefined ? 'folkmoot' : `folkmoot ${version}`,
    commit ? `commit ${commit}` : null,
    node === undefined ? null : `Node ${node}`,
  ];
  return html`<footer>
<p>${code('npx folkmoot')} works in a checkout of folkmoot after ${code('npm ci')}, in each of its
folders. Elsewhere, install the package first: ${code('npm pack')} in a checkout makes
${code(`folkmoot-${version ?? 'VERSION'}.tgz`)}, and ${code('npm install')} with the path of that
file installs it.</p>
<p>${made.filter((part) => part !== null).join(', ')}</p>
</footer>\n`;
}
