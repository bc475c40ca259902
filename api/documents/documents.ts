/** The machine-readable documents and the page that shows one: built on first use, then kept. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { DocumentRoute } from '../contract/routes.js';
import type { HttpResponse } from '../transport/transport.js';
import { buildAsyncapi } from './asyncapi.js';
import type { Part } from './openapi/schemas.js';
import { buildOpenapi } from './openapi.js';
import { contentPolicy, referencePage, themeScript } from './reference-page.js';

const require = createRequire(import.meta.url);
const version = () => (require('folkmoot/package.json') as { version: string }).version;

let openapi: Part | undefined;
let asyncapi: Part | undefined;

/** The HTTP interface, as OpenAPI 3.1. Shared: not to be changed. */
export function openapiDocument(): Part {
  openapi ??= buildOpenapi(version());
  return openapi;
}

/** The WebSocket interface, as AsyncAPI 3. Shared: not to be changed. */
export function asyncapiDocument(): Part {
  asyncapi ??= buildAsyncapi(version());
  return asyncapi;
}

const json = 'application/json; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

const makers: Record<DocumentRoute, () => Promise<[type: string, body: string | Uint8Array]>> = {
  openapi: async () => [json, JSON.stringify(openapiDocument())],
  asyncapi: async () => [json, JSON.stringify(asyncapiDocument())],
  docs: async () => ['text/html; charset=utf-8', referencePage],
  docs_theme: async () => [script, themeScript],
  docs_viewer: async () => [script, await readFile(require.resolve('#docs-viewer'))],
};

const made = new Map<DocumentRoute, HttpResponse>();

export async function served(what: DocumentRoute): Promise<HttpResponse> {
  let response = made.get(what);
  if (!response) {
    const [type, body] = await makers[what]();
    const headers = {
      'Content-Type': type,
      'Content-Security-Policy': contentPolicy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'public, max-age=300',
    };
    response = { status: 200, headers, body };
    made.set(what, response);
  }
  // Its headers are the caller's: each answer gets more.
  return { ...response, headers: { ...response.headers } };
}
