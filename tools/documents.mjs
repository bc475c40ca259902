/**
 * Writes the JSON Schemas in docs/, and the generated parts of its pages: the lines between
 * `<!-- generated: NAME -->` and `<!-- end of generated part -->`. Requires `npm run build`. With
 * --check, prints the paths of files that are out of date instead.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { asyncapiDocument, openapiDocument } from '../dist/api/documents/documents.js';
import { tables as loadTables } from '../dist/bench/load/files.js';
import { loadFileJsonSchema, loadFileTables } from '../dist/bench/load/load-schema.js';
import { loadResultJsonSchema, meanings } from '../dist/bench/load/result.js';
import { configCommands } from '../dist/cli/commands/config.js';
import { buildColumns } from '../dist/cli/commands/events/columns.js';
import { configJsonSchema, configOptions, keyOf } from '../dist/cli/options/config.js';
import { certificateJsonSchema } from '../dist/engine/certificate/format.js';
import { eventTypes } from '../dist/engine/protocol/event-types.js';
import { library } from '../dist/engine/rules/bundled/library.js';
import { formatMarkdownTable } from '../dist/report/shared/format.js';
import { measureKinds, measures, measureTitles } from '../dist/report/shared/measures.js';
import { deciderSchema } from '../dist/sim/agents/deciders/question.js';
import { scriptCommands } from '../dist/sim/agents/script/commands.js';
import { forbidden } from '../dist/sim/agents/script/guard.js';
import { findingTexts } from '../dist/sim/audit/findings.js';
import { DecisionLine } from '../dist/sim/measure/decisions.js';
import { columnType, sweepTables, tables } from '../dist/sim/measure/dictionary.js';
import { scenarioJsonSchema, scenarioTables } from '../dist/sim/scenario/reference.js';
import { describeAllowed } from '../dist/sim/scenario/schema/common.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const commands = await configCommands();
const configuration = configJsonSchema(commands);

const schemas = {
  'docs/openapi.json': openapiDocument,
  'docs/asyncapi.json': asyncapiDocument,
  'docs/scenario.schema.json': scenarioJsonSchema,
  'docs/deciders.schema.json': deciderSchema,
  'docs/certificate.schema.json': certificateJsonSchema,
  'docs/load-file.schema.json': loadFileJsonSchema,
  'docs/load-result.schema.json': loadResultJsonSchema,
  'docs/config.schema.json': () => configuration,
  'python/src/folkmoot/columns.json': pythonColumns,
};

/** Functions that return the generated parts of each page, by name. */
const pages = {
  'docs/scenarios.md': scenarioTables,
  'docs/measures.md': measureTables,
  'docs/scripts.md': scriptTables,
  'docs/rules.md': ruleParts,
  'docs/load-result.md': loadResultTables,
  'docs/load-testing.md': loadFileTables,
  'docs/configuration.md': configurationTables,
  'docs/cli.md': commandLineParts,
};

// ---- python/src/folkmoot/columns.json

/** Returns the columns of all tables with their types, and the measures with their units. */
function pythonColumns() {
  const mapValues = (values, map) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]));
  const unitOf = (name, kind) =>
    name.endsWith('_ms')
      ? 'ms'
      : kind === 'share'
        ? 'share'
        : name.endsWith('bytes')
          ? 'bytes'
          : '';
  return {
    tables: mapValues({ ...tables, ...sweepTables }, (_, columns) =>
      mapValues(columns, columnType),
    ),
    events: Object.fromEntries(buildColumns(eventTypes).map(({ name, kind }) => [name, kind])),
    measures: mapValues(measures, (name, meaning) => ({
      type: measureKinds[name] === 'count' ? 'integer' : 'number',
      unit: unitOf(name, measureKinds[name]),
      title: measureTitles[name],
      meaning,
    })),
  };
}

/** Formats names with their meanings, and the cells between them. */
const dictionary = (titles, rows) =>
  formatMarkdownTable(
    titles,
    rows.map(([name, ...cells]) => [`\`${name}\``, ...cells]),
  );

// ---- docs/measures.md

const columnTable = (columns) =>
  dictionary(
    ['column', 'type', 'meaning'],
    Object.entries(columns).map(([name, meaning]) => [name, columnType(name), meaning]),
  );

function measureTables() {
  const rows = Object.entries(measures).map(([name, text]) => [name, measureKinds[name], text]);
  const members = Object.entries(DecisionLine.properties);
  const columns = Object.entries({ ...tables, ...sweepTables });
  return {
    measures: dictionary(['measure', 'kind', 'meaning'], rows),
    'decisions.ndjson': dictionary(
      ['member', 'meaning'],
      members.map(([name, { description }]) => [name, description]),
    ),
    ...Object.fromEntries(columns.map(([name, table]) => [name, columnTable(table)])),
  };
}

// ---- docs/rules.md

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

function ruleParts() {
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
  return {
    parameters: dictionary(
      ['parameter', 'meaning', 'default', 'bounds', 'rules'],
      groupBy(parameters).map(([cells, names]) => [...JSON.parse(cells), code(names)]),
    ),
    ballots: groupBy(ballots)
      .map(([schema, names]) => `${code(names)}:\n\n\`\`\`json\n${schema}\n\`\`\``)
      .join('\n\n'),
  };
}

// ---- docs/load-result.md

function loadResultTables() {
  const members = meanings().map(({ path, meaning }) => [path, meaning]);
  const tables = Object.entries(loadTables).map(([name, columns]) => [
    name,
    dictionary([name, 'meaning'], Object.entries(columns)),
  ]);
  return {
    'result.json': dictionary(['member', 'meaning'], members),
    ...Object.fromEntries(tables),
  };
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

function keyTable(section, command) {
  const rows = configOptions(command).map((option) => {
    const key = keyOf(option);
    const {
      description,
      default: initial,
      ...value
    } = configuration.properties[section].properties[key];
    const variables = [option.envVar, option.variable].filter((one) => one !== undefined);
    const named = variables.map((one) => `\`${one}\``).join(', ');
    const cells = [`\`${key}\``, valueText(value), defaultText(initial), description, named];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `${keyTableHead}\n${rows.join('\n')}`;
}

function configurationTables() {
  const tables = Object.entries(commands).map(([name, command]) => [name, keyTable(name, command)]);
  return Object.fromEntries(tables);
}

// ---- docs/cli.md: the help texts in test/cli/help.txt, and the exit codes

function commandLineParts() {
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
  return {
    'exit codes': `| code | meaning |\n| ---- | ------- |\n${rows.join('\n')}`,
    commands: sections.join('\n').trimEnd(),
  };
}

// ---- docs/scripts.md

const types = ['sim/agents/script/interface.ts', 'sim/agents/port.ts', 'sim/rng.ts']
  .map((path) => readFileSync(root + path, 'utf8'))
  .join('\n');

/** Returns the name, type and docstring of each member in an interface. */
function membersOf(name) {
  const begin = types.indexOf(`export interface ${name} {`);
  if (begin < 0) throw new Error(`unknown interface: ${name}`);
  const body = types.slice(types.indexOf('{', begin) + 1, types.indexOf('\n}', begin));
  const member = /\/\*\*([\s\S]*?)\*\/\s*(?:readonly )?(\w+)(\??)(<\w+>)?([\s\S]*?);\n/g;
  const found = [...`${body}\n`.matchAll(member)].map(([, doc, key, , , type]) => ({
    key,
    type: type
      .replace(/^: /, '')
      .replace(/\breadonly /g, '')
      .replace(/\s+/g, ' '),
    about: docText(doc),
  }));
  if (found.length === 0) throw new Error(`${name} has no member with a docstring`);
  return found;
}

function docText(doc) {
  const text = doc.replace(/^\s*\* ?/gm, ' ').replace(/@throws[\s\S]*/, '');
  return text.replace(/\s+/g, ' ').trim();
}

const members = (name) =>
  formatMarkdownTable(
    ['member', 'type', 'what it is'],
    membersOf(name).map(({ key, type, about }) => {
      const call = type.startsWith('(');
      return [
        `\`${key}${call ? type.slice(0, type.lastIndexOf('): ') + 1) : ''}\``,
        `\`${call ? type.slice(type.lastIndexOf('): ') + 3) : type}\``,
        about,
      ];
    }),
  );

function commandRows() {
  return Object.entries(scriptCommands).flatMap(([name, schema]) => {
    const fields = Object.entries(schema.properties).filter(([key]) => key !== 'do');
    const required = new Set(schema.required);
    const shown = fields.map(([key, field]) => [
      `\`${key}\``,
      `${describeAllowed(field)}${required.has(key) ? '' : '; optional'}`,
      field.description ?? '',
    ]);
    const [first = ['', '', ''], ...rest] = shown;
    return [[`\`${name}\``, schema.description, ...first], ...rest.map((row) => ['', '', ...row])];
  });
}

/** Interfaces of scripts whose members the page lists. */
const interfaces = [
  'ScriptView',
  'ScriptAgent',
  'KnownHead',
  'ScriptRule',
  'ScriptBlock',
  'ReceivedVote',
  'ReceivedMeme',
  'ReceivedRemark',
  'ReceivedMessage',
  'DeliberationView',
  'Stream',
  'ScriptReportView',
  'ScriptGroup',
  'ScriptReportBlock',
];

function scriptTables() {
  const functions = membersOf('ScriptModule').map(({ key, about }) => [key, about]);
  return {
    functions: dictionary(['export', 'called'], functions),
    ...Object.fromEntries(interfaces.map((name) => [name, members(name)])),
    commands: formatMarkdownTable(['do', 'effect', 'member', 'allowed', 'meaning'], commandRows()),
    findings: dictionary(['finding', 'meaning'], Object.entries(findingTexts)),
    'refused calls': code([...new Set(forbidden.map(({ name }) => name))]),
  };
}

// ---- All files

/** Returns a page with its parts generated anew. @throws if a part is unknown or has no place. */
function renewPage(path) {
  const parts = pages[path]();
  const unplaced = new Set(Object.keys(parts));
  const part = /(<!-- generated: (.*) -->\n)[\s\S]*?\n(<!-- end of generated part -->)/g;
  const page = readFileSync(root + path, 'utf8').replace(part, (_, start, name, end) => {
    if (!unplaced.delete(name)) throw new Error(`${path}: unknown or repeated part: ${name}`);
    return `${start}\n${parts[name]}\n\n${end}`;
  });
  if (unplaced.size > 0) throw new Error(`${path}: no place for ${[...unplaced].join(', ')}`);
  return page;
}

function writeAll() {
  for (const [path, schema] of Object.entries(schemas)) {
    writeFileSync(root + path, `${JSON.stringify(schema(), null, 2)}\n`);
  }
  for (const path of Object.keys(pages)) writeFileSync(root + path, renewPage(path));
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
    ...Object.keys(pages).filter((path) => read(path) !== renewPage(path)),
  ];
}

if (process.argv.includes('--check')) process.stdout.write(findStale().join('\n'));
else writeAll();
