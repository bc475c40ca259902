/**
 * HTML page that compares two saved runs: the common prefix, the first difference, the two futures,
 * and the tallies for blocks whose outcomes differ.
 */
import { dirname, relative, resolve, sep } from 'node:path';
import {
  axisX,
  barX,
  dot,
  gridX,
  gridY,
  lineY,
  type Markish,
  ruleX,
  ruleY,
  text,
} from '../../report/bundled/plot.js';
import { type Chart, figure } from '../../report/figure.js';
import { readJson } from '../../report/folder.js';
import {
  code,
  type Fact,
  facts,
  type Html,
  html,
  listing,
  madeBy,
  numberColumn,
  page,
  section,
  table,
  textColumn,
} from '../../report/page.js';
import { commandLine, format, formatMs, formatTick, timeUnit } from '../../report/shared/format.js';
import {
  differenceText,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { variable } from '../../report/shared/palette.js';
import type { Futures } from '../compare/futures.js';
import type { BlockDifference, BlockOutcome, KeptComparison } from '../compare/runs.js';
import type { SimResult } from '../run/result.js';
import { formatExportLink, isExported } from './sections.js';
import {
  type ClosedBlock,
  closingsOf,
  computeShades,
  describeShades,
  drawOverTime,
  readClosedBlocks,
  type Shade,
} from './timeline.js';

export interface ComparisonInput {
  /** Folders as given by the caller. */
  a: string;
  b: string;
  /** Path of the page to write. */
  file: string;
  found: KeptComparison;
  /** Null if the runs have no common prefix or are identical. */
  futures: Futures | null;
}

export async function comparisonPage(compared: ComparisonInput): Promise<string> {
  const { a, b, found, futures } = compared;
  const results = [a, b].map((folder) => readJson<SimResult>(folder, 'summary.json')) as [
    SimResult,
    SimResult,
  ];
  const both: [Future, Future] = [
    { side: 'A', blocks: await readClosedBlocks(a), endMs: results[0].virtual_ms },
    { side: 'B', blocks: await readClosedBlocks(b), endMs: results[1].virtual_ms },
  ];
  const shades = shadesOfBoth(results);
  const chart = futureChart(both, partedAt(found, futures, both), shades);
  const tallies = tallyChart(found.blocks);
  return page(`A and B: ${results[0].scenario.title}`, [
    html`<h1>Comparison of two runs</h1>
<p class="lead">A: ${results[0].scenario.title}\nB: ${results[1].scenario.title}</p>\n`,
    summaryBox(compared),
    sidesTable(compared, results),
    partingSection(compared, results),
    chart ? section('Two futures', figure(chart), futureTable(both)) : null,
    section('Blocks', blocksText(found), tallies && figure(tallies), tallyTable(found.blocks)),
    futures ? votersSection(futures) : null,
    section('Measures', measuresPart(found)),
    section('Reproduce', again(compared)),
    madeBy(results[0]),
  ]);
}

/** Time of the first different entry, or the end of the run if all entries are identical. */
const partedAt = (found: KeptComparison, futures: Futures | null, both: readonly Future[]) =>
  found.first ? (futures?.parted_ms ?? null) : both[0]!.endMs;

/** Merges the shades of both runs. A shade that both runs share is drawn once. */
function shadesOfBoth(results: readonly SimResult[]): Shade[] {
  const known = new Map<string, Shade>();
  for (const shade of results.flatMap(computeShades)) {
    if (shade.kind === 'fault' || shade.kind === 'intervention') {
      known.set(JSON.stringify([shade.kind, shade.label, shade.fromMs]), shade);
    }
  }
  return [...known.values()].sort((a, b) => a.fromMs - b.fromMs);
}

function summaryBox({ found, futures }: ComparisonInput): Html {
  const { same, first, blocks, measures } = found;
  const turned = blocks.filter(isTurned).length;
  const differ = `${format(measures.length)} measures differ.`;
  const counted = `${format(turned)} blocks have a different outcome, and ${differ}`;
  if (same) {
    return html`<div class="verdict"><p><strong>Identical runs.</strong> All entries, blocks and
measures are the same.</p></div>\n`;
  }
  if (!first) {
    return html`<div class="verdict bad"><p><strong>Identical logs, different measures.</strong> All
entries are the same, but ${counted}</p></div>\n`;
  }
  if (!futures) {
    return html`<div class="verdict bad"><p><strong>No common prefix.</strong> The logs differ from
${first.where} on, so these are unrelated runs and not two futures of one run. ${counted}
Blocks are paired by number only. The differences may be random.</p></div>\n`;
  }
  const { common, parted_ms, votes } = futures;
  return html`<div class="verdict"><p><strong>Common prefix, two futures.</strong> The first
${format(common)} entries (${formatMs(parted_ms)} of virtual time) are the same in both runs. After
these, ${counted} ${format(votes.flipped)} votes on blocks of the same number are
flipped.</p></div>\n`;
}

function sidesTable(
  { a, b, found }: ComparisonInput,
  [one, other]: readonly [SimResult, SimResult],
): Html {
  const row = (name: string, of: (result: SimResult) => string | Html) => [
    name,
    of(one),
    of(other),
  ];
  const rows = [
    ['folder', code(a), code(b)],
    row('title', ({ scenario }) => scenario.title),
    row('seed', ({ seed }) => code(seed)),
    row('verdict', ({ verdict }) => verdict),
    row('ended by', ({ ended_by }) => ended_by),
    row('virtual time', ({ virtual_ms }) => formatMs(virtual_ms)),
    row('entries', ({ entries }) => format(entries)),
    ['log digest', ...found.log_digests.map(code)],
  ];
  return table('Runs', ['property', textColumn('A'), textColumn('B')], rows);
}

/** First different entry, and first difference between the scenarios. */
function partingSection(
  compared: ComparisonInput,
  results: readonly [SimResult, SimResult],
): Html | null {
  const { found } = compared;
  const { first, scenario } = found;
  if (!first) return null;
  const named = { a: 'value in A', b: 'value in B', by: 'sender' } as Record<string, string>;
  const details = Object.entries(first.details).map(([name, value]): Fact => {
    const shownName =
      named[name] ?? name.replace(/^by, b$/, 'sender in B').replace(/^by, a$/, 'sender in A');
    return { name: shownName, value: name.startsWith('by') ? value : code(value), wide: true };
  });
  const differing = scenario && {
    name: 'first different scenario value',
    value: html`${code(scenario.path)}: ${code(scenario.a)} in A, ${code(scenario.b)} in B`,
    wide: true,
  };
  return section(
    'First difference',
    facts([
      { name: 'location', value: first.where, wide: true },
      ...details,
      ...(differing ? [differing] : []),
      ...results.flatMap((result, index) => otherwiseIn(result, index === 0 ? 'A' : 'B')),
    ]),
    linksTo(compared),
  );
}

const otherwiseIn = ({ interventions = [] }: SimResult, side: string): Fact[] =>
  interventions.map(({ what, when, at_ms }) => {
    const acted =
      at_ms === null
        ? `${when}: not reached before the end of the run`
        : `from ${formatMs(at_ms)} on`;
    return { name: `intervention in ${side}`, value: `${what}, ${acted}`, wide: true };
  });

/** Links to the entry on each run's exported page, if the page exists. */
function linksTo({ a, b, file, found }: ComparisonInput): Html | null {
  const seq = found.first?.seq;
  if (seq === undefined) return null;
  const links = Object.entries({ A: a, B: b }).flatMap(([side, folder]) => {
    if (!isExported(folder)) return [];
    const path = relative(dirname(resolve(file)), resolve(folder));
    const place = path.split(sep).map((part) => `${encodeURIComponent(part)}/`);
    const href = formatExportLink(path === '' ? '' : place.join(''), seq);
    return [html`<a href="${href}">entry ${format(seq)} of ${side}</a> `];
  });
  return links.length === 0 ? null : html`<p>${links}</p>\n`;
}

function blocksText({ blocks }: KeptComparison): Html {
  if (blocks.length === 0) return html`<p>All blocks and their votes are the same.</p>\n`;
  const turned = blocks.filter(isTurned).length;
  const rest = blocks.length - turned;
  const others =
    rest === 0 ? '' : ` ${format(rest)} more have a different tally or hash, but the same outcome.`;
  const ended = `${format(turned)} blocks differ in outcome or exist in one run only.`;
  return html`<p>${ended}${others}</p>\n`;
}

function measuresPart({ measures }: KeptComparison): Html {
  if (measures.length === 0) return html`<p>All measures are the same.</p>\n`;
  const columns = ['measure', ...['A', 'B', 'B − A'].map(numberColumn), textColumn('meaning')];
  const rows = measures.map(({ measure, a, b, difference }) => [
    measureTitle(measure),
    html`<span class="whole">${measureText(measure, a)}</span>`,
    html`<span class="whole">${measureText(measure, b)}</span>`,
    html`<span class="whole">${differenceText(measure, difference)}</span>`,
    measureMeaning(measure),
  ]);
  return html`${table('Measures that differ (–: no value)', columns, rows)}
<p>n = 1 pair of runs. One pair does not show a general effect; ${code(
    'folkmoot fork RUN --replicates',
  )} estimates it from replicates.</p>\n`;
}

function again({ a, b, file }: ComparisonInput): Html {
  const compare = commandLine('compare', a, b, '--out', file);
  return html`<p>Run in the folder in which this comparison was made:</p>
${listing('command that compares the runs', compare)}
<p>Browse run B entry by entry:</p>
${listing('command that opens a run in the UI', commandLine('explore', b))}`;
}

const MOST_STEPS = 400;
/** Maximum number of rows in the table that repeats the chart's data. */
const ROWS = 12;

const PAST = variable('c8');

interface Future {
  side: string;
  blocks: readonly ClosedBlock[];
  endMs: number;
}

const looks = {
  A: { color: variable('c1'), dash: '' },
  B: { color: variable('c2'), dash: '7 4' },
} as const;

/** @param partedMs null without a common prefix. @param shades faults, interventions of both. */
function futureChart(
  [a, b]: readonly [Future, Future],
  partedMs: number | null,
  shades: readonly Shade[],
): Chart | null {
  const last = Math.max(a.endMs, b.endMs);
  if (a.blocks.length + b.blocks.length === 0 || last <= 0) return null;
  const x = timeUnit(last);
  const [one, other] = [stepsOf(a), stepsOf(b)];
  const past =
    partedMs === null
      ? 'The runs have no common prefix.'
      : `Thick grey line: the common prefix, up to ${formatMs(partedMs)}.`;
  const ends = [one, other].map((steps) => format(steps.at(-1)!.count));
  const common = partedMs === null ? [] : upTo(one, partedMs);
  return {
    title: 'Finalized blocks over time',
    caption:
      `Cumulative number of finalized blocks over virtual time. A: solid line; B: dashed line. A ` +
      `symbol marks the end of each run. ${past} At the end: ${ends[0]} blocks in A, after ` +
      `${formatMs(a.endMs)}; ${ends[1]} in B, after ${formatMs(b.endMs)}.${describeShades(shades)}`,
    legend: [
      ...(partedMs === null ? [] : [{ color: PAST, dash: '', text: 'common prefix' }]),
      { ...looks.A, text: 'A' },
      { ...looks.B, text: 'B' },
    ],
    draw: drawOverTime({ unit: x, lastMs: last, shades }, (_, narrow) => ({
      height: narrow ? 240 : 320,
      y: { label: 'finalized blocks', tickFormat: formatTick, nice: true },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        ruleY([0], { stroke: 'var(--faint)' }),
        ...(partedMs === null ? [] : pastMarks(common, partedMs, x.ms)),
        ...[one, other].flatMap((steps, index) =>
          futureMarks(from(steps, partedMs ?? 0), x.ms, index === 0 ? 'A' : 'B'),
        ),
      ],
    })),
  };
}

/** Common prefix and the point of divergence. */
const pastMarks = (common: readonly Step[], partedMs: number, unitMs: number): Markish[] => [
  ruleX([partedMs / unitMs], { stroke: PAST, strokeDasharray: '4 3' }),
  curve(common, unitMs, { stroke: PAST, strokeWidth: 5 }),
];

function futureMarks(steps: readonly Step[], unitMs: number, side: keyof typeof looks): Markish[] {
  const { color, dash } = looks[side];
  const look = {
    stroke: color,
    strokeWidth: side === 'A' ? 2.6 : 1.8,
    ...(dash === '' ? {} : { strokeDasharray: dash }),
  };
  return [curve(steps, unitMs, look), endOf(steps, unitMs, side)];
}

const curve = (
  steps: readonly Step[],
  unitMs: number,
  look: { stroke: string; strokeWidth: number; strokeDasharray?: string },
): Markish =>
  lineY(steps, { x: ({ ms }: Step) => ms / unitMs, y: 'count', curve: 'step-after', ...look });

const upTo = (steps: readonly Step[], ms: number): Step[] => {
  const before = steps.filter((step) => step.ms <= ms);
  return [...before, { ms, count: before.at(-1)!.count }];
};

const from = (steps: readonly Step[], ms: number): Step[] => [
  ...upTo(steps, ms).slice(-1),
  ...steps.filter((step) => step.ms > ms),
];

/** A dot marks the end of the run. */
const endOf = (steps: readonly Step[], unitMs: number, side: keyof typeof looks): Markish =>
  dot(steps.slice(-1), {
    ...{ x: ({ ms }: Step) => ms / unitMs, y: 'count', r: 4.5, fill: looks[side].color },
    ...(side === 'A' ? {} : { symbol: 'square' }),
  });

interface Step {
  ms: number;
  count: number;
}

/** Returns finalization times, or evenly spaced instants if there are too many finalizations. */
function stepsOf(future: Future): Step[] {
  const closings = closingsOf(future.blocks, 'finalized');
  const all = closings.map((ms, index) => ({ ms, count: index + 1 }));
  const even = instants(future.endMs, MOST_STEPS).map((ms) => ({
    ms,
    count: countAt(closings, ms),
  }));
  const end = { ms: future.endMs, count: closings.length };
  return [{ ms: 0, count: 0 }, ...(closings.length > MOST_STEPS ? even : all), end];
}

const instants = (endMs: number, most: number): number[] =>
  Array.from({ length: most }, (_, index) => ((index + 1) * endMs) / most);

const countAt = (closings: readonly number[], ms: number): number =>
  closings.filter((one) => one <= ms).length;

/** Table with the chart's data at some instants. A run's cells contain a dash after its end. */
function futureTable([a, b]: readonly [Future, Future]): Html {
  const [one, other] = [a, b].map(({ blocks }) => closingsOf(blocks, 'finalized'));
  const rows = instants(Math.max(a.endMs, b.endMs), ROWS).map((ms) => {
    const at = (closings: readonly number[], endMs: number) =>
      ms > endMs + 1 ? '–' : format(countAt(closings, ms));
    return [formatMs(ms), at(one!, a.endMs), at(other!, b.endMs)];
  });
  const columns = ['time', ...['finalized in A', 'finalized in B'].map(numberColumn)];
  return table('Finalized blocks by virtual time', columns, rows, { fold: 'Data table' });
}

const MOST_BLOCKS = 40;
const MOST_ROWS = 300;
const REST = 'folkmoot compare --json';

/** Sorts blocks with different outcomes first, then blocks whose tallies or hashes differ. */
const ordered = (blocks: readonly BlockDifference[]): BlockDifference[] => [
  ...blocks.filter(isTurned),
  ...blocks.filter((one) => !isTurned(one)),
];

const isTurned = ({ a, b }: BlockDifference): boolean => a?.status !== b?.status;

function tallyChart(blocks: readonly BlockDifference[]): Chart | null {
  const changed = ordered(blocks).filter(({ a, b }) => !sameTally(a, b));
  const drawn = changed.slice(0, MOST_BLOCKS).sort((a, b) => a.number - b.number);
  if (drawn.length === 0) return null;
  const most = drawn
    .flatMap(({ a, b }) => [a, b])
    .reduce((found, one) => Math.max(found, one ? one.approve + one.reject : 0), 1);
  const bars = drawn.flatMap(({ number, a, b }) => [
    ...barsOf(number, a, -1),
    ...barsOf(number, b, 1),
  ]);
  const ends = drawn.flatMap(({ number, a, b }) => [
    { number, x: -most, label: statusOf(a), anchor: 'end' as const },
    { number, x: most, label: statusOf(b), anchor: 'start' as const },
  ]);
  const left = changed.length - drawn.length;
  return {
    title: 'Tallies of changed blocks',
    caption:
      `One row per block with a different tally or outcome: A on the left, B on the right. Bars: ` +
      `approving weight (inside) and rejecting weight (outside). Labels: the outcome. ` +
      `Blocks are paired by number. n = ${format(drawn.length)} blocks.` +
      (left > 0 ? ` ${format(left)} more are not drawn.` : ''),
    legend: [
      { color: variable('c1'), text: 'approving' },
      { color: variable('c2'), text: 'rejecting' },
    ],
    draw: (_, narrow) => ({
      height: 22 * drawn.length + 84,
      marginLeft: narrow ? 104 : 130,
      marginRight: narrow ? 64 : 90,
      marginTop: 34,
      x: { domain: [-most, most], label: null },
      y: { domain: drawn.map(({ number }) => number), type: 'band', padding: 0.24, axis: null },
      color: { type: 'identity' },
      marks: [
        gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
        axisX({ ticks: narrow ? 3 : 7, tickFormat: weight, label: 'weight', labelOffset: 42 }),
        barX(bars, { x1: 'x1', x2: 'x2', y: 'number', fill: 'color' }),
        ruleX([0], { stroke: 'var(--ink)' }),
        ...(['end', 'start'] as const).map((anchor) =>
          text(
            ends.filter((one) => one.anchor === anchor),
            {
              ...{ x: 'x', y: 'number', text: 'label', textAnchor: anchor },
              ...{ dx: anchor === 'end' ? -6 : 6, fill: 'currentColor' },
            },
          ),
        ),
        text(drawn, {
          y: 'number',
          frameAnchor: 'left',
          textAnchor: 'end',
          dx: narrow ? -66 : -84,
          text: ({ number }: BlockDifference) => `${number}`,
          fill: 'var(--faint)',
        }),
        ...(['A', 'B'] as const).map((side) =>
          text([side], {
            x: [side === 'A' ? -most / 2 : most / 2],
            frameAnchor: 'top',
            dy: -16,
            text: [side],
            fontWeight: 600,
            fill: 'currentColor',
          }),
        ),
      ],
    }),
  };
}

const weight = (value: number): string => formatTick(Math.abs(value));

function barsOf(number: number, one: BlockOutcome | null, sign: 1 | -1) {
  if (!one) return [];
  const { approve, reject } = one;
  return [
    { number, x1: 0, x2: sign * approve, color: variable('c1') },
    { number, x1: sign * approve, x2: sign * (approve + reject), color: variable('c2') },
  ];
}

const sameTally = (a: BlockOutcome | null, b: BlockOutcome | null): boolean =>
  a?.status === b?.status && a?.approve === b?.approve && a?.reject === b?.reject;

const statusOf = (one: BlockOutcome | null): string => one?.status ?? 'missing';

function tallyTable(blocks: readonly BlockDifference[]): Html | null {
  if (blocks.length === 0) return null;
  const side = (name: string) => [
    `in ${name}`,
    ...[`approving, ${name}`, `rejecting, ${name}`].map(numberColumn),
  ];
  const cells = (one: BlockOutcome | null) =>
    one ? [one.status, format(one.approve), format(one.reject)] : ['missing', '–', '–'];
  return table(
    'Blocks that differ in outcome, tally (weight) or hash; different outcomes first',
    [numberColumn('block'), ...side('A'), ...side('B')],
    ordered(blocks).map(({ number, a, b }) => [format(number), ...cells(a), ...cells(b)]),
    { most: MOST_ROWS, rest: REST, fold: 'Data table' },
  );
}

/** Number of rows before the fold, and maximum number of rows. */
const FIRST = 15;
const MOST_VOTERS = 1_000;

function votersSection({ votes, voters }: Futures): Html {
  const counts = facts([
    { name: 'same vote', value: format(votes.same) },
    { name: 'flipped', value: format(votes.flipped) },
    { name: 'only in A', value: format(votes.only_a) },
    { name: 'only in B', value: format(votes.only_b) },
  ]);
  const turned = voters.filter(({ flipped }) => flipped > 0).length;
  const says = html`<p>Votes of the same agent on blocks of the same number (possibly
different blocks). ${format(turned)} agents have an opposite vote.
${format(voters.length - turned)} more voted in one run only.</p>\n`;
  if (voters.length === 0) return section('Votes', says, counts);
  const columns = [
    ...['agent', 'group'].map(textColumn),
    ...['flipped', 'only in A', 'only in B', 'same'].map(numberColumn),
  ];
  const rows = voters.map((one) => {
    const { name, agent_id, group, flipped, only_a, only_b, same } = one;
    return [name || agent_id, group, ...[flipped, only_a, only_b, same].map(format)];
  });
  const all = table('More agents with different votes', columns, rows.slice(FIRST), {
    most: MOST_VOTERS,
    rest: REST,
    fold: `${format(rows.length - FIRST)} more`,
  });
  return section(
    'Votes',
    says,
    counts,
    table('Agents with different votes, most flipped votes first', columns, rows.slice(0, FIRST)),
    rows.length > FIRST ? all : null,
  );
}
