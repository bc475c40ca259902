/** HTML page about a recount: outcomes by rule, blocks with different outcomes, pivotal voters. */
import { axisX, axisY, barX, cell, text } from '../../report/bundled/plot.js';
import { type Chart, figure } from '../../report/figure.js';
import {
  type Column,
  type Content,
  code,
  type Html,
  html,
  madeBy,
  numberColumn,
  page,
  section,
  table,
  textColumn,
} from '../../report/page.js';
import { format, formatTick, plural } from '../../report/shared/format.js';
import { outcomes, variable } from '../../report/shared/palette.js';
import { describeBallots, labelOption } from '../elections/rule-ballots.js';
import { type Outcome, undecidedText } from '../rules/recorded-polls.js';
import {
  type DescribedRecount,
  type RecountedBlock,
  type RecountRow,
  resultNotes,
  skippedText,
  statuses,
} from '../rules/recount.js';

/** Maximum number of blocks in the chart of differing blocks. */
const MOST_COLUMNS = 40;
const MOST_ROWS = 300;
const MOST_VOTERS = 100;
const REST = 'folkmoot recount --json';
const RECORDED = 'recorded';

export function recountPage(found: DescribedRecount): string {
  const { source, policy, blocks, rules, skipped, undecided } = found;
  const left = undecidedText(undecided);
  const origin = policy === null ? 'election data' : `a network with the policy ${policy}`;
  const differing = blocks.filter((row) => row.rules.some(({ differs }) => differs));
  const differenceChart = blocksChart(found, policy === null ? blocks : differing);
  return page(`Recount of ${source}`, [
    html`<h1>Recount under other decision rules</h1>
<p class="lead">${source}, ${origin}: ${plural(blocks.length, 'block')}.</p>
<p>Each block is counted again with its recorded votes. Agents do not vote again. A vote without a
ballot means what the rule says, and an elector that had not voted counts as absent.${
      left === null ? '' : ` Left out: ${left}.`
    }</p>\n${skipped ? html`<p>${skippedText(skipped)}</p>\n` : null}${ballotsPart(rules)}`,
    section('Outcomes', figure(outcomesChart(found)), sumsTable(found)),
    section(
      policy === null ? 'Choices' : 'Blocks with different outcomes',
      differenceChart ? figure(differenceChart) : html`<p>No block has a different outcome.</p>\n`,
      blocksTable(found, policy === null ? blocks : differing),
    ),
    section('Pivotal voters', votersPart(found)),
    madeBy({}),
  ]);
}

interface Bar {
  rule: string;
  status: (typeof statuses)[number];
  from: number;
  to: number;
}

function outcomesChart({ policy, rules, blocks }: DescribedRecount): Chart {
  const recorded = (status: string) =>
    blocks.filter((row) => row.recorded?.status === status).length;
  const series = [
    ...(policy === null ? [] : [{ rule: RECORDED, countOf: recorded }]),
    ...rules.map(({ rule, statuses: counts }) => ({
      rule,
      countOf: (status: string) => counts[status] ?? 0,
    })),
  ];
  const bars = series.flatMap(({ rule, countOf }): Bar[] => {
    let from = 0;
    return statuses.map((status) => {
      const bar = { rule, status, from, to: from + countOf(status) };
      from = bar.to;
      return bar;
    });
  });
  const names = series.map(({ rule }) => rule);
  return {
    title: 'Outcomes by rule',
    caption: `Number of blocks by status. n = ${format(blocks.length)} blocks for each rule.`,
    legend: statuses.map((status) => ({ color: variable(outcomes[status].color), text: status })),
    draw: (_, narrow) => ({
      height: 30 * names.length + 70,
      marginLeft: marginOf(names, narrow),
      x: { domain: [0, Math.max(1, blocks.length)] },
      y: { domain: names, type: 'band', padding: 0.25, label: null },
      color: { type: 'identity' },
      marks: [
        axisX({ tickFormat: formatTick, label: 'blocks', labelOffset: 42, ticks: narrow ? 4 : 8 }),
        axisY({ tickSize: 0, tickFormat: (name: string) => shorten(name, narrow) }),
        barX(
          bars.filter(({ from, to }) => to > from),
          {
            ...{ x1: 'from', x2: 'to', y: 'rule' },
            fill: ({ status }: Bar) => variable(outcomes[status].color),
          },
        ),
      ],
    }),
  };
}

const CHARACTER = 7;
const shorten = (name: string, narrow: boolean): string => {
  const most = narrow ? 12 : 28;
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
};
const marginOf = (names: readonly string[], narrow: boolean): number =>
  16 + CHARACTER * Math.max(...names.map((name) => shorten(name, narrow).length));

interface Cell {
  rule: string;
  block: string;
  status: (typeof statuses)[number];
  choice: string;
}

/** Draws a cell for each rule and block, with the choice, if it is short. */
function blocksChart(
  { policy, rules }: DescribedRecount,
  rows: readonly RecountRow[],
): Chart | null {
  const drawn = rows.slice(0, MOST_COLUMNS);
  if (drawn.length === 0) return null;
  const names = [...(policy === null ? [] : [RECORDED]), ...rules.map(({ rule }) => rule)];
  const blocks = drawn.map(labelOf);
  const cells = drawn.flatMap((row, at) => {
    const all = [
      ...(row.recorded === null ? [] : [row.recorded]),
      ...row.rules.map(({ outcome }) => outcome),
    ];
    return all.map((outcome, rule) => toCell(names[rule]!, blocks[at]!, row, outcome));
  });
  const left = rows.length - drawn.length;
  return {
    title: policy === null ? 'Choice by rule' : 'Outcome by block and rule',
    caption:
      'Color: status of the block. Text: the chosen option. ' +
      `n = ${plural(drawn.length, 'block')}.` +
      (left > 0 ? ` ${format(left)} more are not drawn.` : ''),
    legend: statuses.map((status) => ({ color: variable(outcomes[status].color), text: status })),
    draw: (width, narrow) => {
      const marginLeft = marginOf(names, narrow);
      const columns = (width - marginLeft) / drawn.length;
      const fit = Math.floor(columns / CHARACTER);
      return {
        height: 30 * names.length + 90,
        ...{ marginLeft, marginBottom: 64 },
        x: { domain: blocks, type: 'band', padding: 0.08, label: null },
        y: { domain: names, type: 'band', padding: 0.12, label: null },
        color: { type: 'identity' },
        marks: [
          axisX({ tickSize: 0, tickRotate: columns < 60 ? -60 : 0 }),
          axisY({ tickSize: 0, tickFormat: (name: string) => shorten(name, narrow) }),
          cell(cells, {
            ...{ x: 'block', y: 'rule', fillOpacity: 0.85 },
            fill: ({ status }: Cell) => variable(outcomes[status].color),
          }),
          text(
            cells.filter(({ choice }) => choice !== '' && choice.length <= fit),
            { x: 'block', y: 'rule', text: 'choice', fill: 'var(--paper)', fontWeight: 600 },
          ),
        ],
      };
    },
  };
}

const labelOf = ({ number: block }: RecountRow): string => `${block}`;

const toCell = (
  rule: string,
  block: string,
  row: RecountRow,
  { status, choice = '' }: Outcome,
): Cell => ({
  ...{ rule, block, choice: labelOption(row, choice) },
  status: status as Cell['status'],
});

function sumsTable({ policy, rules, blocks }: DescribedRecount): Html {
  const columns: Column[] = [
    textColumn('rule'),
    ...statuses.map(numberColumn),
    ...(policy === null ? [] : [numberColumn('differ')]),
    ...['with a pivotal voter', 'ballots kept', 'converted', 'left out'].map(numberColumn),
    textColumn('SHA-256 of the module'),
  ];
  const rows = rules.map((sums): Content[] => {
    const { rule, statuses: counts, differs, pivotal, exceeded, ballots, sha256 } = sums;
    const searched = blocks.length - exceeded;
    return [
      rule,
      ...statuses.map((status) => format(counts[status] ?? 0)),
      ...(policy === null ? [] : [format(differs)]),
      exceeded > 0 ? `${format(pivotal)} of ${format(searched)}` : format(pivotal),
      format(ballots.kept),
      format(ballots.converted + ballots.listed),
      format(ballots.tied + ballots.dropped),
      sha256 === null ? '–' : code(sha256),
    ];
  });
  return table('Blocks and ballots by rule', columns, rows);
}

/** Names ballots that count in another way than recorded, or not at all. */
function ballotsPart(rules: DescribedRecount['rules']): Html | null {
  const lines = rules.flatMap((sums) =>
    describeBallots(sums).map((what) => html`<li>${sums.rule}: ${what}</li>\n`),
  );
  return lines.length === 0 ? null : html`<ul>\n${lines}</ul>\n`;
}

const outcomeText = (row: RecountRow, { status, choice }: Outcome): string =>
  choice === undefined ? status : `${status}: ${labelOption(row, choice)}`;

function resultText(row: RecountRow, result: RecountedBlock): string {
  const notes = resultNotes(row, result).join(', ');
  return `${outcomeText(row, result.outcome)}${notes === '' ? '' : ` (${notes})`}`;
}

function blocksTable(
  { policy, rules }: DescribedRecount,
  rows: readonly RecountRow[],
): Html | null {
  if (rows.length === 0) return null;
  const columns: Column[] = [
    textColumn('block'),
    ...(policy === null ? [] : [RECORDED]),
    ...rules.map(({ rule }) => rule),
  ];
  const cells = rows.map((row): Content[] => [
    `${row.number} (height ${format(row.height)})`,
    ...(row.recorded === null ? [] : [outcomeText(row, row.recorded)]),
    ...row.rules.map((one) => resultText(row, one)),
  ]);
  const options = { most: MOST_ROWS, rest: REST, fold: 'Data table' };
  return table('Outcome of each block by rule', columns, cells, options);
}

function votersPart({ voters, rules }: DescribedRecount): Html {
  const says = html`<p>A voter is pivotal if the outcome of a block is different without its vote,
or with the opposite decision.</p>\n`;
  if (voters.length === 0) return html`${says}<p>No voter is pivotal.</p>\n`;
  const columns = [textColumn('voter'), ...rules.map(({ rule }) => numberColumn(rule))];
  const rows = voters.map(({ agent_id, name, pivotal }): Content[] => [
    name || agent_id,
    ...pivotal.map((count) => format(count)),
  ]);
  const options = { most: MOST_VOTERS, rest: REST };
  return html`${says}${table(
    'Number of blocks in which a voter is pivotal',
    columns,
    rows,
    options,
  )}`;
}
