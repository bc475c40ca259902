/** The OpenAPI document, out of the route table, the schemas, the reasons and the limits. */
import type { CommandKind, Reason } from '../../engine/internal.js';
import { perMinute } from '../contract/limit-table.js';
import { type Route, routes } from '../contract/routes.js';
import { type Operation, tags } from './openapi/operation.js';
import { operationOf } from './openapi/operations.js';
import {
  headerParameters,
  parametersOf,
  requestBodyOf,
  securityOf,
  securitySchemes,
  signingOf,
} from './openapi/requests.js';
import {
  createResponses,
  type Responses,
  reasonsText,
  responseHeaders,
} from './openapi/responses.js';
import { type Components, createComponents, extension, type Part } from './openapi/schemas.js';
import { signingText } from './openapi/signing.js';

export const info = {
  title: 'folkmoot',
  license: { name: 'MIT', identifier: 'MIT' },
};

const description = `Networks of agents that reach consensus by voting. What the interface did
not have at first is marked \`x-extension\`.

Every JSON answer is in an envelope: \`{"success": true, "data": ...}\`, or
\`{"success": false, "error": {"code", "message", "details"}}\`. HEAD is answered where GET is;
OPTIONS lists the methods of a path; another method is answered 405 with \`Allow\`. Unknown members
of a request are ignored; the header \`Folkmoot-Unknown\` names them. Answers may gain members; they
lose none within v1.

# Signing

${signingText}

# Reasons

\`details.reason\` of an error is one of these.

${reasonsText}
`;

export function buildOpenapi(version: string): Part {
  const components = createComponents();
  const responses = createResponses(components);
  const paths: Record<string, Part> = {};
  for (const route of routes) {
    const operation = operationOf(route);
    const path = documentedPath(route, operation);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describe(route, operation, components, responses);
  }
  return {
    openapi: '3.1.0',
    info: { ...info, version, summary: 'Consensus by voting, over HTTP', description },
    servers: [{ url: '/', description: 'the server that this document came from' }],
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

/** The path with the documents' names of its parameters. */
function documentedPath(route: Route, { path = [] }: Operation): string {
  let next = 0;
  return route.path.replaceAll(/\{\w+\}/g, () => `{${path[next++]!.name}}`);
}

function describe(
  route: Route,
  operation: Operation,
  components: Components,
  responses: Responses,
): Part {
  const { id, tag, summary, text, extension: added } = operation;
  const limit = limitOf(route, operation);
  const lines = [text, added && 'Beyond the interface.', signingOf(route, operation), limit?.text];
  const parameters = parametersOf(route, operation, components);
  const requestBody = requestBodyOf(route, components);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(lines.some(Boolean) ? { description: lines.filter(Boolean).join('\n\n') } : {}),
    ...(added ? extension : {}),
    ...(limit ? { 'x-rate-limit': limit.figures } : {}),
    security: securityOf(route, operation),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responses.of(operation, reasonsOf(route, operation)),
  };
}

function limitOf(route: Route, { reasons }: Operation) {
  const read = reasons.includes('QUOTA_USED') ? 'read' : null;
  const name: keyof typeof perMinute | null = route.command ?? read;
  if (name === null) return null;
  const counted_by = name === 'register' || name === 'read' ? 'address' : 'agent';
  const figures = { name, per_minute: perMinute[name], counted_by };
  return { figures, text: `Limit: ${figures.per_minute} a minute, counted by ${counted_by}.` };
}

/** Any request may meet these. */
const anywhere: Reason[] = [
  'SCHEMA',
  'LENGTH_REQUIRED',
  'TOO_LARGE',
  'WRONG_HOST',
  'INTERNAL',
  'DEADLINE',
];
const ofWrites: Reason[] = [
  'READ_ONLY',
  'MISSING',
  'MALFORMED',
  'MISMATCH',
  'TIMESTAMP_SKEW',
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

/** The reasons of an operation, with those that its way of travelling adds. */
function reasonsOf(route: Route, { reasons }: Operation): Reason[] {
  if (!route.command) return [...anywhere, ...reasons];
  return [...anywhere, ...ofWrites, ...keyed(route.command), ...reasons];
}

/** A registration brings its key along. */
const keyed = (kind: CommandKind): Reason[] => (kind === 'register' ? [] : ['UNKNOWN_KEY']);
