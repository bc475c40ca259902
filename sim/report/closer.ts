/** From a report into the page: links where the run was exported beside it, and the command. */
import { type Html, html } from '../../report/html.js';
import { listing, section } from '../../report/page.js';
import { has } from '../../report/read.js';
import { shown, time } from '../../report/shared/numbers.js';
import { commandLine } from '../../report/shell.js';
import type { SimResult } from '../run/result.js';
import type { ClosedBlock } from './charts/blocks.js';

/** A whole run in one file, where somebody exported it into the run's folder. */
const EXPORTED = 'run.html';

export const isExported = (folder: string): boolean => has(folder, EXPORTED);

/** @param place the folder as the report has to name it, '' for its own; ends with a slash. */
export const exportedAt = (place: string, entry: number): string =>
  `${place}${EXPORTED}?at=${entry}`;

/** To the blocks that one looks for first: the slowest, and the first of each other end. */
export function blockLinks(blocks: readonly ClosedBlock[]): { text: string; href: string }[] {
  const [slowest] = blocks
    .filter(({ finalityMs }) => finalityMs !== null)
    .toSorted((a, b) => b.finalityMs! - a.finalityMs!);
  const ends = (['rejected', 'expired', 'orphaned'] as const).flatMap((status) => {
    const first = blocks
      .filter((block) => block.status === status)
      .toSorted((a, b) => a.closedMs - b.closedMs)[0];
    return first
      ? [{ block: first, text: `the first that was ${status}, block ${first.height}` }]
      : [];
  });
  const found = slowest
    ? [
        {
          block: slowest,
          text: `the slowest, block ${slowest.height}, ${time(slowest.finalityMs)}`,
        },
      ]
    : [];
  return [...found, ...ends].map(({ block, text }) => ({
    text,
    href: `${EXPORTED}?view=block&item=${block.hash}`,
  }));
}

const MOST_LINKS = 20;

/** Null of a run whose log is not kept. */
export function closerSection(folder: string, result: SimResult): Html | null {
  if (!has(folder, 'network')) return null;
  return section(
    'Look closer',
    html`<p>The page shows every agent and block at any entry of the log. In the folder of this
report:</p>
${listing('the command that shows the run on a page', commandLine('explore', '.'))}`,
    isExported(folder) ? exportedLinks(result) : null,
  );
}

/** To where something was made otherwise, and to the end. */
function exportedLinks({ interventions = [], entries }: SimResult): Html {
  const moments = interventions.flatMap(({ what, entry }) =>
    entry === null ? [] : [{ entry, text: `${what}, after entry ${shown(entry)}` }],
  );
  const places = [
    { entry: 0, text: 'its beginning' },
    ...moments.slice(0, MOST_LINKS),
    { entry: entries - 1, text: `its end, entry ${shown(entries - 1)}` },
  ];
  const links = places.map(
    ({ entry, text }) => html`<li><a href="${exportedAt('', entry)}">${text}</a></li>\n`,
  );
  return html`<p>The whole run is beside this report, in one file that needs no server:</p>
<ul>
${links}</ul>
`;
}
