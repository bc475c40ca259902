/**
 * Writes the generated pages and JSON Schemas in docs/. Requires `npm run build`. With --check,
 * prints the paths of those that are out of date instead.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { asyncapiDocument, openapiDocument } from '../dist/api/documents/documents.js';
import { tables as loadTables } from '../dist/bench/load/histograms.js';
import { loadResultJsonSchema, meanings } from '../dist/bench/load/result.js';
import { configCommands } from '../dist/cli/commands/config.js';
import { configJsonSchema, configOptions, keyOf } from '../dist/cli/options/config.js';
import { certificateJsonSchema } from '../dist/engine/certificate/format.js';
import { library } from '../dist/engine/rules/bundled/library.js';
import { formatMarkdownTable } from '../dist/report/shared/format.js';
import { measureKinds, measures } from '../dist/report/shared/measures.js';
import { deciderSchema } from '../dist/sim/agents/deciders/question.js';
import { scenarioJsonSchema, scenarioReference } from '../dist/sim/index.js';
import { DecisionLine } from '../dist/sim/measure/decisions.js';
import { sweepTables, tables } from '../dist/sim/measure/dictionary.js';
import { scriptsPage } from './scripts-page.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const commands = await configCommands();
const configuration = configJsonSchema(commands);

const schemas = {
  'docs/openapi.json': openapiDocument,
  'docs/asyncapi.json': asyncapiDocument,
  'docs/scenario.schema.json': scenarioJsonSchema,
  'docs/deciders.schema.json': deciderSchema,
  'docs/certificate.schema.json': certificateJsonSchema,
  'docs/load-result.schema.json': loadResultJsonSchema,
  'docs/config.schema.json': () => configuration,
};

const pages = {
  'docs/scenarios.md': scenarioReference,
  'docs/measures.md': measuresPage,
  'docs/scripts.md': scriptsPage,
  'docs/rules.md': rulesPage,
  'docs/load-result.md': loadResultPage,
  'docs/configuration.md': configurationPage,
  'docs/cli.md': commandLinePage,
};

/** Formats names with their meanings, and the cells between them. */
const dictionary = (titles, rows) =>
  formatMarkdownTable(
    titles,
    rows.map(([name, ...cells]) => [`\`${name}\``, ...cells]),
  );

// ---- docs/measures.md

const tableTitles = {
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

const tableNotes = {
  'runs.csv': 'The columns of factors follow `seed`. The columns of measures precede `verdict`.',
  'differences.csv': 'The columns of the factors follow `cell`.',
  'run_groups.csv':
    'The other columns of groups.csv follow `group`; `cell` and `replicate` are those of runs.csv.',
  'summary.csv': 'The columns of the factors follow `cell`.',
};

const tableSection = ([name, columns]) =>
  [
    `## ${name}: ${tableTitles[name]}`,
    ...(tableNotes[name] ? [tableNotes[name]] : []),
    dictionary(['column', 'meaning'], Object.entries(columns)),
  ].join('\n\n');

function measuresPage() {
  const rows = Object.entries(measures).map(([name, text]) => [name, measureKinds[name], text]);
  const members = Object.entries(DecisionLine.properties);
  return `# Measures

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

## Measures of a run

${dictionary(['measure', 'kind', 'meaning'], rows)}

${Object.entries(tables).map(tableSection).join('\n\n')}

## decisions.ndjson: a JSON object for each counted vote, in order

See [attribution.md](attribution.md). Members that do not apply to a vote are \`null\`.

${dictionary(
  ['member', 'meaning'],
  members.map(([name, { description }]) => [name, description]),
)}

${Object.entries(sweepTables).map(tableSection).join('\n\n')}
`;
}

// ---- docs/rules.md: the section "Parameters and ballot schemas"

const code = (names) => names.map((name) => `\`${name}\``).join(', ');

/** Formats JSON with short values on one line. */
function formatJson(value, indent = '') {
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => formatJson(item, inner))
    : Object.entries(value).map(([name, member]) => `"${name}": ${formatJson(member, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{ ', ' }'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (!line.includes('\n') && indent.length + line.length <= 80) return line;
  return `${open.trim()}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close.trim()}`;
}

/** Lists the rules that share a value. */
function groupBy(entries) {
  const groups = new Map();
  for (const [key, name] of entries) groups.set(key, [...(groups.get(key) ?? []), name]);
  return [...groups];
}

function rulesPage() {
  const marks = ['<!-- generated by npm run docs -->', '<!-- end of the generated part -->'];
  const number = (value) => value.toLocaleString('en');
  const rules = Object.entries(library);
  const parameters = rules.flatMap(([rule, { parameters: own }]) =>
    Object.entries(own).map(([name, { about, default: standard, minimum, maximum }]) => {
      const bounds = `${number(minimum)} to ${number(maximum)}`;
      return [JSON.stringify([name, about, number(standard), bounds]), rule];
    }),
  );
  const ballots = rules.flatMap(([rule, { ballot }]) =>
    ballot ? [[formatJson(ballot), rule]] : [],
  );
  const [before, rest] = readFileSync(`${root}docs/rules.md`, 'utf8').split(marks[0]);
  return `${before}${marks[0]}

${dictionary(
  ['parameter', 'meaning', 'default', 'bounds', 'rules'],
  groupBy(parameters).map(([cells, names]) => [...JSON.parse(cells), code(names)]),
)}

Schemas of ballots, as \`folkmoot rule show NAME --json\` prints them in \`ballot\`:

${groupBy(ballots)
  .map(([schema, names]) => `${code(names)}:\n\n\`\`\`json\n${schema}\n\`\`\``)
  .join('\n\n')}

${marks[1]}${rest.split(marks[1])[1]}`;
}

// ---- docs/load-result.md

function loadResultPage() {
  return `# Results of a load test

\`folkmoot load --out\` writes these files; [load-testing.md](load-testing.md) explains the figures.
The JSON Schema of \`result.json\` is [load-result.schema.json](load-result.schema.json).

## result.json

Latencies are in milliseconds and rates are per second. A member without a value is \`null\`. All
latencies have the members of \`finality\`.

${dictionary(
  ['member', 'meaning'],
  meanings().map(({ path, meaning }) => [path, meaning]),
)}

## Tables

\`seconds.csv\` has the columns of \`seconds[]\`. A cell is empty if the member is \`null\`.

${Object.entries(loadTables)
  .map(([name, columns]) => dictionary([name, 'meaning'], Object.entries(columns)))
  .join('\n\n')}
`;
}

// ---- docs/configuration.md

/** Describes a JSON Schema in words. */
function valueText({ type, enum: values, anyOf, pattern, minimum, maximum, const: only }) {
  if (only !== undefined) return `\`${only}\``;
  if (anyOf) return anyOf.map(valueText).join(' or ');
  if (values) return values.map((one) => `\`${one}\``).join(', ');
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'array') return 'list of strings';
  if (type === 'string') return pattern?.includes('ms|s|m') ? 'duration, such as `10s`' : 'text';
  const most = maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`;
  return type === 'integer' ? `${minimum}${most || ' or more'}` : `number up to ${maximum}`;
}

function defaultText(value) {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${value}\``;
}

const keyTableHead = `| key | value | default | meaning | environment variable |
| --- | ----- | ------- | ------- | -------------------- |`;

function keySection([name, command]) {
  const rows = configOptions(command).map((option) => {
    const key = keyOf(option);
    const {
      description,
      default: initial,
      ...value
    } = configuration.properties[name].properties[key];
    const variables = [option.envVar, option.variable].filter((one) => one !== undefined);
    const named = variables.map((one) => `\`${one}\``).join(', ');
    const cells = [`\`${key}\``, valueText(value), defaultText(initial), description, named];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `## Keys of \`${name}\`

${keyTableHead}
${rows.join('\n')}
`;
}

function secretTable() {
  const rows = [
    ['key that signs responses', 'RESPONSE_KEY', 'response-key'],
    ['secret of the nodes', 'PEER_SECRET', 'peer-secret'],
    ['control token', 'CONTROL_TOKEN', 'control-token'],
  ].map(([what, variable, flag]) => {
    const key = `${flag.replace('-', '_')}_file`;
    const files = `\`FOLKMOOT_${variable}_FILE\`, \`--${flag}\`, \`${key}\``;
    return `| ${what} | ${files} | \`FOLKMOOT_${variable}\` |`;
  });
  return `| secret | in a file | in the environment |
| ------ | --------- | ------------------ |
${rows.join('\n')}`;
}

function configurationPage() {
  return `# Configuration

\`folkmoot serve\` and \`folkmoot load\` take each value from the first of these sources
that has it: a flag, an environment variable, a YAML file, the default. \`--config FILE\` or
\`FOLKMOOT_CONFIG\` names the file. One definition of the options validates all three sources,
and generates this page and the JSON Schema [config.schema.json](config.schema.json).

\`\`\`yaml
# yaml-language-server: $schema=node_modules/folkmoot/docs/config.schema.json
serve:
  host: 0.0.0.0
  port: 8080
  data: /var/lib/folkmoot
  limits: spec
  trusted_proxies: [10.0.0.1]
  response_key_file: /etc/folkmoot/response-key.json
load:
  workload: votes
  rate: 800
  fail_on: ['p99>200ms', 'errors>1%']
\`\`\`

With the first line, an editor completes and checks keys. Relative paths start at the working
directory, as on the command line.

## Check and show

\`\`\`sh
npx folkmoot config check folkmoot.yaml
npx folkmoot config show serve --config folkmoot.yaml --port 9000
\`\`\`

\`check\` reads the file alone and starts nothing. An unknown key, a value of the wrong type,
and two options that exclude each other are usage errors (exit code 2). The message names the
file, the line, the key and the allowed values. Options exclude each other even if they come
from different sources. \`show\` prints the effective values of a command, with the source of
each value, and lists variables that begin with \`FOLKMOOT_\` but have no meaning for the
command.

A variable for a switch holds \`true\`, \`1\` or \`yes\`, or \`false\`, \`0\` or \`no\`. A
variable for a list holds values separated by commas; \`FOLKMOOT_LOAD_SLO\` holds one value. The
variables \`FOLKMOOT_NO_UI\` and \`FOLKMOOT_NO_WATCH\` disable the page and anonymous
watching, like \`ui: false\` and \`watch: false\` in the file.

## Secrets

A secret is never an argument or a setting in the file, because other users of the machine can see
arguments, and a configuration file is often shared. Each secret has two variables:

${secretTable()}

Setting both variables of a secret is an error. A file that other users can read causes a
warning. \`config show\` prints \`***\` for a secret, and hides passwords in addresses.

## Change values while the server runs

On SIGHUP, \`folkmoot serve\` reads its file and \`limits_file\` again. It applies the log level
and the rate limits, and logs each change with its old and new value. Requests counted so far
stay counted. For other changed keys it logs a warning that names them, because they need a
restart. \`limits: off\` cannot be switched on or off. If a file has a problem, the server
logs the problem and keeps its previous configuration. A server without a file ends on SIGHUP.

${Object.entries(commands).map(keySection).join('\n')}`;
}

// ---- docs/cli.md: the help texts in test/cli/help.txt, and the exit codes

function commandLinePage() {
  const helps = readFileSync(`${root}test/cli/help.txt`, 'utf8')
    .split(/^\$ (?=folkmoot )/m)
    .slice(1);
  const sections = helps.map((text) => {
    const [command, ...lines] = text.trimEnd().split('\n');
    const name = command.replace(/ --help$/, '');
    return `## ${name}\n\n\`\`\`text\n${lines.join('\n').trim()}\n\`\`\`\n`;
  });

  const codes = execFileSync(process.execPath, [`${root}dist/cli/main.js`, 'help', 'exit-codes'], {
    encoding: 'utf8',
  });
  const rows = [...codes.matchAll(/^ {2}(\d+) +(\S.*(?:\n {6}\S.*)*)/gm)].map(
    ([, code, text]) => `| ${code} | ${text.replace(/\s+/g, ' ')} |`,
  );
  return `# Command line

\`folkmoot COMMAND --help\` prints the help of a command. This page has the help of all commands.

## Exit codes

All commands use the same exit codes:

| code | meaning |
| ---- | ------- |
${rows.join('\n')}

${sections.join('\n')}`;
}

function writeAll() {
  for (const [path, schema] of Object.entries(schemas)) {
    writeFileSync(root + path, `${JSON.stringify(schema(), null, 2)}\n`);
  }
  for (const [path, page] of Object.entries(pages)) writeFileSync(root + path, page());
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--write', ...Object.keys(schemas)];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

function findStale() {
  const read = (path) => readFileSync(root + path, 'utf8');
  const compact = (schema) => JSON.stringify(schema);
  return [
    ...Object.entries(schemas)
      .filter(([path, schema]) => compact(JSON.parse(read(path))) !== compact(schema()))
      .map(([path]) => path),
    ...Object.entries(pages)
      .filter(([path, page]) => read(path) !== page())
      .map(([path]) => path),
  ];
}

if (process.argv.includes('--check')) process.stdout.write(findStale().join('\n'));
else writeAll();
