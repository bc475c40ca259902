/** The OpenAPI document, derived from the route table, the schemas, the reasons and the limits. */
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
    const path = documentedPath(route);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = describe(route, components, responses);
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
function documentedPath({ path, parameters = {} }: Route): string {
  const names = Object.keys(parameters).values();
  return path.replaceAll(/\{\w+\}/g, () => `{${names.next().value}}`);
}

function describe(route: Route, components: Components, responses: Responses): Part {
  const { id, tag, summary, text, extension: added } = route;
  const limit = limitOf(route);
  const lines = [text, added && 'Beyond the interface.', describeSigning(route), limit?.text];
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

/** The reasons of a route, with those that its way of travelling adds. */
function reasonsOf({ command, reasons }: Route): Reason[] {
  if (!command) return [...anywhere, ...reasons];
  return [...anywhere, ...ofWrites, ...keyed(command), ...reasons];
}

/** A registration brings its key along. */
const keyed = (kind: CommandKind): Reason[] => (kind === 'register' ? [] : ['UNKNOWN_KEY']);
