/**
 * The pages at /docs and /docs/socket, and the table of document files. The pages load only from
 * this server, so they work offline.
 */

import type { DocumentName } from '../contract/server.js';
import {
  asyncapiDocument,
  builtFiles,
  type Contents,
  escapeHtml,
  type GeneratedFile,
  generateFile,
  masthead,
  mastheadStyle,
  openapiDocument,
  type ServedFile,
} from './documents.js';

/** Inline styles are allowed because the viewer's elements use style attributes. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Hides the contents list where the viewer shows its navigation. */
const style = `${mastheadStyle}
rapi-doc { height: calc(100vh - 53px); }
@media (min-width: 768px) { .contents { display: none; } }
`;

const referencePage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>folkmoot: HTTP reference</title>
<script src="/docs/theme.js" defer></script>
<script src="/docs/rapidoc-min.js" defer></script>
<style>${style}</style>
</head>
<body>
${masthead('/docs', contents())}
<rapi-doc
  spec-url="/openapi.json"
  load-fonts="false"
  regular-font="system-ui, sans-serif"
  mono-font="ui-monospace, monospace"
  render-style="read"
  primary-color="#0072b2"
  schema-style="table"
  schema-description-expanded="true"
  default-schema-tab="schema"
  show-header="false"
  show-method-in-nav-bar="as-colored-text"
  use-path-in-nav-bar="false"
  allow-authentication="false"
  allow-server-selection="false"
  allow-spec-url-load="false"
  allow-spec-file-load="false"
  allow-try="false"
  sort-tags="false"
></rapi-doc>
<noscript>
This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.
</noscript>
</body>
</html>
`;

interface Openapi {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, { tags: string[]; summary: string }>>;
}

/** Lists all operations, with the anchors that the viewer generates. */
function contents(): Contents {
  const { tags, paths } = openapiDocument() as unknown as Openapi;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags: of, summary }]) => ({
      tag: of[0],
      place: { href: `#${method}-${path.replace(/[\s#:?&={}]/g, '-')}`, name: summary },
    })),
  );
  return tags.map(({ name, description }) => ({
    title: description,
    places: operations.filter(({ tag }) => tag === name).map(({ place }) => place),
  }));
}

/** Follows the system's colour scheme, and closes the contents list on a click. */
const themeScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const page = document.querySelector('rapi-doc');
const paint = () => page?.setAttribute('theme', dark.matches ? 'dark' : 'light');
dark.addEventListener('change', paint);
paint();
const contents = document.querySelector('.contents');
contents.addEventListener('click', ({ target }) => {
  if (target.closest('a')) contents.open = false;
});
`;

const json = 'application/json; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const html = 'text/html; charset=utf-8';

const makers: Record<DocumentName, () => ServedFile> = {
  openapi: () => made({ type: json, body: JSON.stringify(openapiDocument()) }),
  asyncapi: () => made({ type: json, body: JSON.stringify(asyncapiDocument()) }),
  docs: () => made({ type: html, body: referencePage() }),
  docs_socket: () => made({ type: html, body: socketPage() }),
  docs_theme: () => made({ type: script, body: themeScript }),
  docs_viewer: () => builtFiles('#viewer', contentPolicy).get('rapidoc-min.js')!,
};

const made = (file: GeneratedFile) => generateFile({ ...file, policy: contentPolicy });

const known = new Map<DocumentName, ServedFile>();

export function documentFile(name: DocumentName): ServedFile {
  const file = known.get(name) ?? makers[name]();
  known.set(name, file);
  return file;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

interface Message {
  name: string;
  summary: string;
  payload: Schema;
  'x-topics'?: string[];
  'x-extension'?: true;
}

interface Asyncapi {
  info: { description: string };
  channels: {
    live: {
      address: string;
      description: string;
      'x-topics': { name: string; events: string[] }[];
    };
  };
  operations: Record<string, { action: string; messages: { $ref: string }[] }>;
  components: { messages: Record<string, Message>; schemas: Record<string, Schema> };
}

/** Deepest level of nested members shown. Deeper members appear only as a type. */
const DEEPEST = 3;

function socketPage(): string {
  const document = asyncapiDocument() as unknown as Asyncapi;
  const { live } = document.channels;
  const all = Object.values(document.components.messages);
  const sent = Object.values(document.operations)
    .filter(({ action }) => action === 'receive')
    .flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split('/').at(-1)));
  const groups = [
    { title: 'Client messages', messages: all.filter(({ name }) => sent.includes(name)) },
    { title: 'Events', messages: all.filter((one) => one['x-topics'] !== undefined) },
  ];
  const known = groups.flatMap(({ messages }) => messages);
  const others = all.filter((one) => !known.includes(one));
  groups.splice(1, 0, { title: 'Server messages', messages: others });
  const contents: Contents = [
    { title: 'Connection', places: [{ href: '#connection', name: live.address }] },
    ...groups.map(({ title, messages }) => ({
      title,
      places: messages.map(({ name }) => ({ href: `#${name}`, name })),
    })),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>folkmoot: WebSocket reference</title>
<script src="/docs/theme.js" defer></script>
<style>${mastheadStyle}${socketStyle}</style>
</head>
<body>
${masthead('/docs/socket', contents)}
<main>
<h1 id="connection">WebSocket <code>${escapeHtml(live.address)}</code></h1>
<p>${escapeHtml(document.info.description)}
Machine-readable: <a href="/asyncapi.json">AsyncAPI</a>.</p>
${prose(live.description)}
<h2 id="topics">Topics</h2>
${table(
  ['topic', 'events'],
  live['x-topics'].map(({ name, events }) => [
    code(name),
    events.map((event) => `<a href="#${escapeHtml(event)}">${escapeHtml(event)}</a>`).join(', '),
  ]),
)}
${groups.map((group) => shownGroup(group, document.components.schemas)).join('\n')}
</main>
</body>
</html>
`;
}

const code = (text: string) => `<code>${escapeHtml(text)}</code>`;

function shownGroup(
  { title, messages }: { title: string; messages: Message[] },
  schemas: Record<string, Schema>,
): string {
  const shown = messages.map(({ name, summary, payload, ...more }) => {
    const added = more['x-extension'] ? ' <span class="added">extension</span>' : '';
    const rows = rowsOf(payload, schemas, '', 0);
    const at = escapeHtml(name);
    return `<section><h3 id="${at}"><a href="#${at}">${at}</a>${added}</h3>
${prose(summary)}
${table(['member', 'type', 'meaning'], rows)}</section>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n${shown.join('\n')}`;
}

function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : { ...schemas[name], ...schema };
}

/** Returns one row per member, including nested members. */
function rowsOf(
  schema: Schema,
  schemas: Record<string, Schema>,
  prefix: string,
  depth: number,
): string[][] {
  const { properties = {}, required = [] } = resolved(schema, schemas);
  return Object.entries(properties).flatMap(([name, member]) => {
    const of = resolved(member, schemas);
    const inner = of.items ? resolved(of.items, schemas) : of;
    const path = `${prefix}${name}${of.items ? '[]' : ''}`;
    const optional = required.includes(name) ? '' : ' <span class="faint">(optional)</span>';
    const row = [
      code(path) + optional,
      escapeHtml(typeOf(of, schemas)),
      escapeHtml(of.description ?? ''),
    ];
    const below = depth < DEEPEST ? rowsOf(inner, schemas, `${path}.`, depth + 1) : [];
    return [row, ...below];
  });
}

function typeOf(schema: Schema, schemas: Record<string, Schema>): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((one) => typeOf(resolved(one, schemas), schemas)).join(' | ');
  if (schema.items) return `list of ${typeOf(resolved(schema.items, schemas), schemas)}`;
  const { minimum, maximum, maxLength } = schema;
  const range = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  const length = maxLength === undefined ? '' : `, at most ${maxLength} characters`;
  return `${[schema.type ?? 'anything'].flat().join(' | ')}${range}${length}`;
}

function table(heads: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return '';
  const cells = (tag: string, row: readonly string[]) =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const reached = 'tabindex="0" role="group" aria-label="Table"';
  return `<div class="scroll" ${reached}><table><thead>${cells('th', heads)}</thead>
<tbody>${rows.map((row) => cells('td', row)).join('\n')}</tbody></table></div>`;
}

/** Renders a subset of Markdown: paragraphs, code and tables. */
function prose(text: string): string {
  return text
    .trim()
    .split(/\n\n+/)
    .map((part) => {
      if (!part.startsWith('|')) return `<p>${coded(part)}</p>`;
      const rows = part.split('\n').map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
      return table(
        rows[0]!,
        rows.slice(2).map((row) => row.map(coded)),
      );
    })
    .join('\n');
}

const coded = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const socketStyle = `
html { scroll-padding-top: 64px; }
main { max-width: 900px; margin: 0 auto; padding: 16px 16px 64px; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; }
main h2 { font-size: 1.3rem; margin: 40px 0 8px; padding-bottom: 4px;
  border-bottom: 1px solid var(--line); }
h3 { margin: 28px 0 4px; }
h3 a { color: inherit; text-decoration: none; }
code { font: 0.9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.faint { color: var(--faint); }
.added { font-size: 0.8rem; font-weight: 400; color: var(--faint); border: 1px solid var(--line);
  border-radius: 99px; padding: 1px 10px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 6px 16px 6px 0;
  border-bottom: 1px solid var(--line); }
@media (max-width: 640px) { td:last-child { min-width: 22ch; } }
`;
