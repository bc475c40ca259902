/** The page of two kept runs: what they have in common, where they part, and what came of it. */
import { dirname, relative, resolve, sep } from 'node:path';
import { figure } from '../../../report/figure.js';
import { type Html, html } from '../../../report/html.js';
import {
  code,
  type Fact,
  facts,
  listing,
  madeBy,
  page,
  section,
  table,
} from '../../../report/page.js';
import { readJson, tableRows } from '../../../report/read.js';
import {
  differenceText,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../../report/shared/measures/titles.js';
import { shown, time } from '../../../report/shared/numbers.js';
import { commandLine } from '../../../report/shell.js';
import type { Futures, KeptComparison } from '../../compare/index.js';
import type { SimResult } from '../../run/result.js';
import { type ClosedBlock, closedBlock } from '../charts/blocks.js';
import { type Shade, shadesOf } from '../charts/shades.js';
import { exportedAt, isExported } from '../closer.js';
import { type Future, futureChart, futureTable } from './future-chart.js';
import { ordered, tallyChart, tallyTable } from './tally-chart.js';
import { votersSection } from './voters.js';

export interface Compared {
  /** Folders, as they were named. */
  a: string;
  b: string;
  /** Where the page will stand. */
  file: string;
  found: KeptComparison;
  /** Null where they have no past in common, or are the same. */
  futures: Futures | null;
}

export async function comparisonPage(compared: Compared): Promise<string> {
  const { a, b, found, futures } = compared;
  const results = [a, b].map((folder) => readJson<SimResult>(folder, 'summary.json')) as [
    SimResult,
    SimResult,
  ];
  const both: [Future, Future] = [
    { side: 'A', blocks: await closedIn(a), endMs: results[0].virtual_ms },
    { side: 'B', blocks: await closedIn(b), endMs: results[1].virtual_ms },
  ];
  const shades = shadesOfBoth(results);
  const chart = futureChart(both, partedAt(found, futures, both), shades);
  const tallies = tallyChart(found.blocks);
  return page(`A and B: ${results[0].scenario.title}`, [
    html`<h1>Two runs compared</h1>
<p class="lead">A: ${results[0].scenario.title}\nB: ${results[1].scenario.title}</p>\n`,
    summaryBox(compared),
    sidesTable(compared, results),
    partingSection(compared, results),
    chart ? section('Two futures', figure(chart), futureTable(both)) : null,
    section('Blocks', blocksText(found), tallies ? figure(tallies) : null, tallyPart(found)),
    futures ? votersSection(futures) : null,
    section('Measures', measuresPart(found)),
    section('Do it again', again(compared)),
    madeBy(results[0]),
  ]);
}

/** To the end where all entries are the same. */
const partedAt = (found: KeptComparison, futures: Futures | null, both: readonly Future[]) =>
  found.first ? (futures?.parted_ms ?? null) : both[0]!.endMs;

/** What is of both is shaded once. */
function shadesOfBoth(results: readonly SimResult[]): Shade[] {
  const known = new Map<string, Shade>();
  for (const shade of results.flatMap(shadesOf)) {
    if (shade.kind === 'fault' || shade.kind === 'intervention') {
      known.set(JSON.stringify([shade.kind, shade.label, shade.fromMs]), shade);
    }
  }
  return [...known.values()].sort((a, b) => a.fromMs - b.fromMs);
}

async function closedIn(folder: string): Promise<ClosedBlock[]> {
  const blocks: ClosedBlock[] = [];
  for await (const row of tableRows(folder, 'blocks.csv')) {
    const block = closedBlock(row);
    if (block) blocks.push(block);
  }
  return blocks;
}

/** The answer first, in a sentence or two. */
function summaryBox({ found, futures }: Compared): Html {
  const { same, first, blocks, measures } = found;
  const turned = blocks.filter(({ a, b }) => a?.status !== b?.status).length;
  const differ = `${shown(measures.length)} measures differ.`;
  const counted = `${shown(turned)} blocks ended otherwise, and ${differ}`;
  if (same) {
    return html`<div class="verdict"><p><strong>The same run.</strong> Every entry, block
and measure is the same.</p></div>\n`;
  }
  if (!first) {
    return html`<div class="verdict bad"><p><strong>The same log.</strong> Every entry is
the same, and what was measured is not: ${counted}</p></div>\n`;
  }
  if (!futures) {
    return html`<div class="verdict bad"><p><strong>No common beginning.</strong> The logs
differ from ${first.where} on: these are two runs of their own, not two futures of one. ${counted}
Blocks are paired by their number alone, and what differs may be luck.</p></div>\n`;
  }
  const { common, parted_ms, votes } = futures;
  return html`<div class="verdict"><p><strong>One past, two futures.</strong> The first
${shown(common)} entries, ${time(parted_ms)} of the run, are the same in both. After that ${counted}
${shown(votes.flipped)} votes on blocks of the same number are the other one.</p></div>\n`;
}

function sidesTable(
  { a, b, found }: Compared,
  [one, other]: readonly [SimResult, SimResult],
): Html {
  const row = (name: string, of: (result: SimResult) => string | Html) => [
    name,
    of(one),
    of(other),
  ];
  const columns = [
    { name: 'of the run' },
    { name: 'A', kind: 'text' },
    { name: 'B', kind: 'text' },
  ] as const;
  const rows = [
    ['folder', code(a), code(b)],
    row('title', ({ scenario }) => scenario.title),
    row('seed', ({ seed }) => code(seed)),
    row('verdict', ({ verdict }) => verdict),
    row('ended by', ({ ended_by }) => ended_by),
    row('virtual time', ({ virtual_ms }) => time(virtual_ms)),
    row('entries', ({ entries }) => shown(entries)),
    ['log digest', ...found.log_digests.map(code)],
  ];
  return table('What is compared', columns, rows);
}

/** The first entry that differs, and what the scenarios have different. */
function partingSection(compared: Compared, results: readonly [SimResult, SimResult]): Html | null {
  const { found } = compared;
  const { first, scenario } = found;
  if (!first) return null;
  const named = { a: 'in A', b: 'in B' } as Record<string, string>;
  const details = Object.entries(first.details).map(([name, value]): Fact => {
    const shownName =
      named[name] ?? name.replace(/^by, b$/, 'by, in B').replace(/^by, a$/, 'by, in A');
    return { name: shownName, value: name.startsWith('by') ? value : code(value), wide: true };
  });
  const why: Fact[] = scenario
    ? [
        {
          name: 'first value in which the scenarios differ',
          value: [
            code(scenario.path),
            ': ',
            code(scenario.a),
            ' in A, ',
            code(scenario.b),
            ' in B',
          ],
          wide: true,
        },
      ]
    : [];
  return section(
    'Where they part',
    facts([
      { name: 'first that differs', value: first.where, wide: true },
      ...details,
      ...why,
      ...results.flatMap((result, index) => otherwiseIn(result, index === 0 ? 'A' : 'B')),
    ]),
    linksTo(compared),
  );
}

/** What was made otherwise in a fork. */
const otherwiseIn = ({ interventions = [] }: SimResult, side: string): Fact[] =>
  interventions.map(({ what, when, at_ms }) => {
    const acted = at_ms === null ? `${when}: the run ended before` : `from ${time(at_ms)} on`;
    return { name: `made otherwise in ${side}`, value: `${what}, ${acted}`, wide: true };
  });

/** To the page of each run at that entry, where one was exported. */
function linksTo({ a, b, file, found }: Compared): Html | null {
  const seq = found.first?.seq;
  if (seq === undefined) return null;
  const links = Object.entries({ A: a, B: b }).flatMap(([side, folder]) => {
    if (!isExported(folder)) return [];
    const path = relative(dirname(resolve(file)), resolve(folder));
    const place = path.split(sep).map((part) => `${encodeURIComponent(part)}/`);
    const href = exportedAt(path === '' ? '' : place.join(''), seq);
    return [html`<a href="${href}">entry ${shown(seq)} of ${side}, on its page</a> `];
  });
  return links.length === 0 ? null : html`<p>${links}</p>\n`;
}

function blocksText({ blocks }: KeptComparison): Html {
  if (blocks.length === 0) return html`<p>Every block is the same, with the same votes.</p>\n`;
  const turned = ordered(blocks).filter(({ a, b }) => a?.status !== b?.status);
  const rest = blocks.length - turned.length;
  const others =
    rest === 0 ? '' : ` ${shown(rest)} more differ in their tally or hash, and ended alike.`;
  const ended = `${shown(turned.length)} blocks ended otherwise or are in one run only.`;
  return html`<p>${ended}${others}</p>\n`;
}

const tallyPart = ({ blocks }: KeptComparison): Html | null =>
  blocks.length === 0 ? null : tallyTable(blocks);

function measuresPart({ measures }: KeptComparison): Html {
  if (measures.length === 0) return html`<p>Every measure is the same.</p>\n`;
  const number = (name: string) => ({ name, kind: 'number' }) as const;
  const columns = [
    { name: 'measure' },
    number('A'),
    number('B'),
    number('B less A'),
    { name: 'meaning', kind: 'text' },
  ] as const;
  const rows = measures.map(({ measure, a, b, difference }) => [
    measureTitle(measure),
    html`<span class="whole">${measureText(measure, a)}</span>`,
    html`<span class="whole">${measureText(measure, b)}</span>`,
    html`<span class="whole">${differenceText(measure, difference)}</span>`,
    measureMeaning(measure),
  ]);
  return html`${table('Measures that differ; – where one cannot be said', columns, rows)}
<p>One pair of runs shows what would have happened then, not what happens as a rule: ${code(
    'folkmoot fork RUN --replicates',
  )} says whether it is luck.</p>\n`;
}

function again({ a, b, file }: Compared): Html {
  const compare = commandLine('compare', a, b, '--out', file);
  return html`<p>In the folder where this comparison was made:</p>
${listing('the command that compares them', compare)}
<p>To go through one of them, entry by entry:</p>
${listing('the command that shows a run', commandLine('explore', b))}`;
}
