/** What is served of the documents, by name: each is made on first use, then kept. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { DocumentName } from '../contract/routes.js';
import { asyncapiDocument, openapiDocument } from './documents.js';
import { referencePage, themeScript } from './reference-page.js';

export interface Page {
  type: string;
  body: string | Uint8Array;
}

const require = createRequire(import.meta.url);
const json = 'application/json; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

const makers: Record<DocumentName, () => Page | Promise<Page>> = {
  openapi: () => ({ type: json, body: JSON.stringify(openapiDocument()) }),
  asyncapi: () => ({ type: json, body: JSON.stringify(asyncapiDocument()) }),
  docs: () => ({ type: 'text/html; charset=utf-8', body: referencePage }),
  docs_theme: () => ({ type: script, body: themeScript }),
  docs_viewer: async () => ({
    type: script,
    body: await readFile(require.resolve('#docs-viewer')),
  }),
};

const made = new Map<DocumentName, Page>();

export async function pageOf(name: DocumentName): Promise<Page> {
  const page = made.get(name) ?? (await makers[name]());
  made.set(name, page);
  return page;
}
