/** The OpenAPI document, built from the tables of routes, schemas, reasons and limits. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import { perMinute } from '../contract/limit-table.js';
import { tags } from '../contract/route.js';
import { type Route, routes } from '../contract/routes.js';
import {
  buildParameters,
  buildRequestBody,
  buildSecurity,
  describeSigning,
  headerParameters,
  securitySchemes,
  signingText,
} from './openapi-requests.js';
import {
  createResponses,
  type Responses,
  reasonsText,
  responseHeaders,
} from './openapi-responses.js';
import { type Components, createComponents, extension, type Part } from './openapi-schemas.js';

export const info = {
  title: 'folkmoot',
  license: { name: 'MIT', identifier: 'MIT' },
};

const description = `Networks of agents that reach consensus by voting. Additions to the original
interface are marked \`x-extension\`.

Every JSON response is in an envelope: \`{"success": true, "data": ...}\`, or
\`{"success": false, "error": {"code", "message", "details"}}\`. Every GET route also accepts HEAD.
OPTIONS lists the methods of a path. Any other method is answered with 405 and \`Allow\`. The server
ignores unknown members of a request and lists them in the header \`Folkmoot-Unknown\`. Within v1,
responses may gain members but lose none.

# Signing

${signingText}

# Reasons

\`details.reason\` of an error has one of these values.

${reasonsText}
`;

export function buildOpenapi(version: string): Part {
  const components = createComponents();
  const responses = createResponses(components);
  const paths: Record<string, Part> = {};
  for (const route of routes) {
    const path = documentedPath(route);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describe(route, components, responses);
  }
  return {
    openapi: '3.1.0',
    info: { ...info, version, summary: 'Consensus by voting over HTTP', description },
    servers: [{ url: '/', description: 'the server that serves this document' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes,
      parameters: headerParameters(components),
      headers: responseHeaders,
      responses: responses.shared,
      schemas: components.schemas,
    },
  };
}

/** Returns the path with the parameter names used in the documents. */
function documentedPath({ path, parameters = {} }: Route): string {
  const names = Object.keys(parameters).values();
  return path.replaceAll(/\{\w+\}/g, () => `{${names.next().value}}`);
}

function describe(route: Route, components: Components, responses: Responses): Part {
  const { id, tag, summary, text, extension: added } = route;
  const limit = limitOf(route);
  const lines = [text, added && 'Extension.', describeSigning(route), limit?.text];
  const parameters = buildParameters(route, components);
  const requestBody = buildRequestBody(route, components);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(lines.some(Boolean) ? { description: lines.filter(Boolean).join('\n\n') } : {}),
    ...(added ? extension : {}),
    ...(limit ? { 'x-rate-limit': limit.figures } : {}),
    security: buildSecurity(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responses.of(route, reasonsOf(route)),
  };
}

function limitOf({ command, reasons }: Route) {
  const read = reasons.includes('QUOTA_USED') ? 'read' : null;
  const name: keyof typeof perMinute | null = command ?? read;
  if (name === null) return null;
  const counted_by = name === 'register' || name === 'read' ? 'address' : 'agent';
  const figures = { name, per_minute: perMinute[name], counted_by };
  return { figures, text: `Rate limit: ${figures.per_minute} a minute per ${counted_by}.` };
}

/** Reasons that apply to every request. */
const anywhere: Reason[] = [
  'SCHEMA',
  'LENGTH_REQUIRED',
  'TOO_LARGE',
  'WRONG_HOST',
  'INTERNAL',
  'DEADLINE',
];
const ofSignatures: Reason[] = ['MISSING', 'MALFORMED', 'MISMATCH', 'TIMESTAMP_SKEW'];
const ofWrites: Reason[] = [
  'READ_ONLY',
  ...ofSignatures,
  'WRONG_ORIGIN',
  'BAD_JSON',
  'MEDIA_TYPE',
  'QUOTA_USED',
  'QUEUE_FULL',
  'PAUSED',
  'DISK_FULL',
  'NO_QUORUM',
  'UNCERTAIN',
  'CLOCK',
  'STOPPING',
];

/**
 * Returns a route's refusal reasons, including those for every request and every signed request.
 */
function reasonsOf({ command, signed, reasons }: Route): Reason[] {
  if (signed) return [...anywhere, ...ofSignatures, 'UNKNOWN_KEY', ...reasons];
  if (!command) return [...anywhere, ...reasons];
  return [...anywhere, ...ofWrites, ...keyed(command), ...reasons];
}

/** A registration carries its own key, so the key is always known. */
const keyed = (kind: CommandKind): Reason[] => (kind === 'register' ? [] : ['UNKNOWN_KEY']);
