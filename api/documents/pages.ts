/** What is served of the documents, by name: each is made on first use, then kept. */
import type { DocumentName } from '../contract/routes.js';
import { builtFiles } from './built-files.js';
import { asyncapiDocument, openapiDocument } from './documents.js';
import { contentPolicy, referencePage, themeScript } from './reference-page.js';
import { type Made, madeFile, type ServedFile } from './served-file.js';
import { socketPage } from './socket-page.js';

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

const made = (file: Made) => madeFile({ ...file, policy: contentPolicy });

const known = new Map<DocumentName, ServedFile>();

export function documentFile(name: DocumentName): ServedFile {
  const file = known.get(name) ?? makers[name]();
  known.set(name, file);
  return file;
}
