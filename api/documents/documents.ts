/** The machine-readable documents: built on first use, then kept. */
import { createRequire } from 'node:module';
import { buildAsyncapi } from './asyncapi.js';
import type { Part } from './openapi/schemas.js';
import { buildOpenapi } from './openapi.js';

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
