/**
 * Builds the documentation site into `site/`, which git ignores, from README.md, docs/ and
 * examples/README.md. The same Markdown files work on a code host, because the stage has the same
 * layout. The build fails on a dead link. `--skip-reference` omits the JavaScript API.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stage = join(root, '.build/site');
const { values } = parseArgs({ options: { 'skip-reference': { type: 'boolean' } } });

/**
 * Copies a Markdown file to the stage. README.md becomes the index of its folder. Placeholders in
 * angle brackets are text, not HTML.
 */
function stageMarkdown(path) {
  const target = join(stage, path.replace(/README\.md$/, 'index.md'));
  const text = readFileSync(join(root, path), 'utf8')
    .replaceAll(/\]\(([^)\s]*)README\.md(#[^)\s]*)?\)/g, ']($1index.md$2)')
    .replaceAll(/\]\((?:\.\.\/)*(LICENSE|CITATION\.cff)\)/g, '](/$1)');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function stageFiles(folder, keeps) {
  for (const name of readdirSync(join(root, folder))) {
    if (name.endsWith('.md')) stageMarkdown(`${folder}/${name}`);
    else if (keeps(name)) {
      cpSync(join(root, folder, name), join(stage, 'public', folder, name), { recursive: true });
    }
  }
}

async function buildReference() {
  const { convert } = await import('../reference/project.mjs');
  const { app, project } = await convert({ readme: 'none' });
  await app.generateDocs(project, join(stage, 'public/reference'));
}

/** Formats a text as one line that is safe in a table cell. */
const cell = (text = '') =>
  text.replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');

const nameOf = (reference) => reference.split('/').at(-1);

/** Returns a short description of a JSON Schema. */
function typeOf(schema = {}) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(', ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf || schema.oneOf) return (schema.anyOf ?? schema.oneOf).map(typeOf).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`;
  return [schema.type ?? 'any'].flat().join(' or ');
}

const table = (head, rows) =>
  rows.length === 0
    ? []
    : ['', `| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows, ''];

function membersOf(schema = {}) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const need = required.has(name) ? 'yes' : 'no';
    return `| \`${name}\` | ${cell(typeOf(member))} | ${need} | ${cell(member.description)} |`;
  });
  return table(['member', 'type', 'required', 'description'], rows);
}

/** @param {any} document an OpenAPI document with local references only. */
function httpPage(document) {
  const resolve = (value) => {
    if (!value?.$ref) return value;
    const [, ...steps] = value.$ref.split('/');
    return steps.reduce((at, step) => at[step], document);
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const operationLines = (operation) => {
    const parameters = (operation.parameters ?? []).map(resolve).map((parameter) => {
      const { name, required, schema, description } = parameter;
      const need = required ? 'yes' : 'no';
      const type = cell(typeOf(schema));
      return `| \`${name}\` | ${parameter.in} | ${type} | ${need} | ${cell(description)} |`;
    });
    const [[, body] = []] = Object.entries(operation.requestBody?.content ?? {});
    const responses = Object.entries(operation.responses).map(
      ([status, response]) => `| ${status} | ${cell(resolve(response).description)} |`,
    );
    return [
      `### ${operation.summary}`,
      '',
      `\`${operation.method.toUpperCase()} ${operation.path}\``,
      '',
      (operation.description ?? '').replaceAll('<', '&lt;'),
      ...table(['parameter', 'in', 'type', 'required', 'description'], parameters),
      ...(body ? membersOf(resolve(body.schema)) : []),
      ...table(['status', 'meaning'], responses),
    ];
  };
  const sections = document.tags.flatMap(({ name, description }) => [
    `## ${name[0].toUpperCase()}${name.slice(1)}`,
    '',
    description ?? '',
    '',
    ...operations.filter(({ tags }) => tags?.[0] === name).flatMap(operationLines),
  ]);
  const schemas = Object.entries(document.components.schemas)
    .filter(([, schema]) => schema.properties)
    .flatMap(([name, schema]) => [`### ${name}`, '', ...membersOf(schema)]);
  return page('HTTP API', 'openapi.json', document, [...sections, '## Schemas', '', ...schemas]);
}

/** @param {any} document an AsyncAPI document with local references only. */
function socketPage(document) {
  const { messages, schemas = {} } = document.components;
  const channels = Object.values(document.channels).flatMap(({ address, description = '' }) => [
    `## \`${address}\``,
    '',
    description.replaceAll('<', '&lt;'),
    '',
  ]);
  const rows = Object.entries(messages).flatMap(([name, { summary = '', payload = {} }]) => {
    const schema = payload.$ref ? schemas[nameOf(payload.$ref)] : payload;
    return [`### ${name}`, '', summary.replaceAll('<', '&lt;'), ...membersOf(schema)];
  });
  const known = Object.entries(schemas)
    .filter(([, schema]) => schema.properties)
    .flatMap(([name, schema]) => [`### ${name}`, '', ...membersOf(schema)]);
  const all = [...channels, '## Messages', '', ...rows, '## Schemas', '', ...known];
  return page('WebSocket API', 'asyncapi.json', document, all);
}

const page = (title, file, { info }, lines) =>
  [
    `# ${title}`,
    '',
    (info.description ?? '').replaceAll('<', '&lt;').replaceAll(/^# /gm, '## '),
    '',
    `The machine-readable document is [${file}](/docs/${file}).`,
    '',
    ...lines,
    '',
  ].join('\n');

rmSync(stage, { recursive: true, force: true });
for (const path of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'test/README.md']) {
  stageMarkdown(path);
}
stageFiles('docs', (name) => /\.(json|py)$/.test(name));
stageFiles('docs/decisions', () => false);
stageFiles('examples', () => true);
for (const path of ['LICENSE', 'CITATION.cff']) {
  cpSync(join(root, path), join(stage, 'public', basename(path)));
}
cpSync(join(root, 'docs/pictures'), join(stage, 'docs/pictures'), { recursive: true });
const read = (name) => JSON.parse(readFileSync(join(root, 'docs', name), 'utf8'));
writeFileSync(join(stage, 'docs/http-api.md'), httpPage(read('openapi.json')));
writeFileSync(join(stage, 'docs/websocket-api.md'), socketPage(read('asyncapi.json')));
mkdirSync(join(stage, '.vitepress'));
cpSync(join(root, 'tools/site/config.mjs'), join(stage, '.vitepress/config.mjs'));
if (!values['skip-reference']) await buildReference();
await build(stage);
