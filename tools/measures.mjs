// Writes docs/measures.md from the data dictionary. Requires `npm run build`. With --print, writes
// to standard output.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdownTable } from '../dist/report/shared/format.js';
import { measureKinds, measures } from '../dist/report/shared/measures.js';
import { DecisionLine } from '../dist/sim/measure/decisions.js';
import { sweepTables, tables } from '../dist/sim/measure/dictionary.js';

const introduction = `# Measures

Measures of \`folkmoot sim FILE --out DIR\` and \`folkmoot sweep\`, and the columns of all tables. A
run writes \`summary.json\` with the measures, \`report.html\` with charts, and the tables
\`blocks.csv\`, \`agents.csv\`, \`groups.csv\`, \`edges.csv\`, \`series.csv\` and
\`messages.csv\`. \`measure.votes: true\` adds \`votes.csv\`, \`measure.decisions: true\` adds
\`decisions.ndjson\`, and custom measures of scripts add \`reported.csv\`. A sweep writes
\`runs.csv\`, \`run_groups.csv\`, \`summary.csv\`, and depending on its design \`differences.csv\`
or \`indices.csv\`. The same scenario and seed give the same bytes in every table on every machine.

Times are milliseconds of virtual time since the start of the run. Shares are fractions of one.
Shares and means of a run are rounded to six decimals. An unknown value, such as a share of zero
items, is \`null\` in JSON and empty in tables. Tables are CSV (RFC 4180) in UTF-8 with a header and
LF line ends. Agents of the network that are not in the scenario count in the totals and belong to
no group.

A spreadsheet runs a cell as a formula if its text begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or
a line end. Such a text, unless it is a number, has an apostrophe in front. So has a text with
apostrophes before such a character, so that removing one apostrophe always restores the text.

\`\`\`python
import pandas; blocks = pandas.read_csv('DIR/blocks.csv', keep_default_na=False, na_values='')
\`\`\`

\`\`\`r
blocks <- read.csv("DIR/blocks.csv", na.strings = "")
\`\`\`
`;

const titles = {
  'blocks.csv': 'a row for each proposed block',
  'agents.csv': 'a row for each agent of the scenario',
  'groups.csv': 'a row for each group of the scenario',
  'edges.csv': 'a row for each link of the social graph',
  'reported.csv': 'a row for each custom measure of a script',
  'series.csv': 'a row for each instant and curve',
  'messages.csv': 'a row for each kind of message',
  'votes.csv': 'a row for each counted vote, in order',
  'runs.csv': 'a row for each run of a sweep',
  'run_groups.csv': 'a row for each group of each run of a sweep',
  'summary.csv': 'a row for each cell and measure of a sweep',
  'differences.csv': 'a row for each cell and measure of a sweep with a baseline',
  'indices.csv': 'a row for each factor and index of a sweep with the design morris or sobol',
};

const between = {
  'runs.csv': 'The columns of factors follow `seed`. The columns of measures precede `verdict`.',
  'differences.csv': 'The columns of the factors follow `cell`.',
  'run_groups.csv':
    'The other columns of groups.csv follow `group`; `cell` and `replicate` are those of runs.csv.',
  'summary.csv': 'The columns of the factors follow `cell`.',
};

/** Formats an aligned Markdown table. */
function dictionaryTable(head, dictionary, kinds) {
  const kindOf = (name) => (kinds ? [kinds[name]] : []);
  const rows = Object.entries(dictionary).map(([name, text]) => [
    ...[`\`${name}\``, ...kindOf(name), text],
  ]);
  return formatMarkdownTable([head, ...(kinds ? ['kind'] : []), 'meaning'], rows);
}

function tableSection([name, columns]) {
  const parts = [
    `## ${name}: ${titles[name]}`,
    ...(between[name] ? [between[name]] : []),
    dictionaryTable('column', columns),
  ];
  return parts.join('\n\n');
}

/** Descriptions of the members in a line. */
const decisionMembers = Object.fromEntries(
  Object.entries(DecisionLine.properties).map(([name, { description }]) => [name, description]),
);

const decisions = `## decisions.ndjson: a JSON object for each counted vote, in order

See [attribution.md](attribution.md). Members that do not apply to a vote are \`null\`.

${dictionaryTable('member', decisionMembers)}`;

const document = [
  introduction.trimEnd(),
  `## Measures of a run\n\n${dictionaryTable('measure', measures, measureKinds)}`,
  ...Object.entries(tables).map(tableSection),
  decisions,
  ...Object.entries(sweepTables).map(tableSection),
].join('\n\n');

if (process.argv.includes('--print')) process.stdout.write(`${document}\n`);
else writeFileSync(fileURLToPath(new URL('../docs/measures.md', import.meta.url)), `${document}\n`);
