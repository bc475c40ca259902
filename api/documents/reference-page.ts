/**
 * The page at /docs, and the table of document files. The page loads only from this server, so it
 * works offline.
 */

import type { DocumentName } from '../contract/server.js';
import {
  asyncapiDocument,
  builtFiles,
  type GeneratedFile,
  generateFile,
  openapiDocument,
  type ServedFile,
} from './documents.js';
import { type Contents, masthead, mastheadStyle } from './masthead.js';
import { socketPage } from './socket-page.js';

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
