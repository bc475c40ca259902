/** The OpenAPI document, built from the tables of routes, schemas, reasons and limits. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { type Reason, reasons as table } from '../../engine/protocol/schema/reason.js';
import { ErrorBody } from '../contract/answers.js';
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
import { type Components, createComponents, extension, type Part } from './openapi-schemas.js';

export const info = {
  title: 'folkmoot',
  license: { name: 'MIT', identifier: 'MIT' },
};

/** Table of all reasons, for the document's description. */
const reasonsText = `| reason | code | status | meaning |
|---|---|---|---|
${Object.entries(table)
  .map(([reason, { code, status, meaning }]) => `| ${reason} | ${code} | ${status} | ${meaning} |`)
  .join('\n')}`;

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
  const responses = new Responses(components);
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

/** Returns a route's refusal reasons, with those for every request and every signed request. */
function reasonsOf({ command, signed, reasons }: Route): Reason[] {
  if (signed) return [...anywhere, ...ofSignatures, 'UNKNOWN_KEY', ...reasons];
  if (!command) return [...anywhere, ...reasons];
  return [...anywhere, ...ofWrites, ...keyed(command), ...reasons];
}

/** A registration carries its own key, so the key is always known. */
const keyed = (kind: CommandKind): Reason[] => (kind === 'register' ? [] : ['UNKNOWN_KEY']);

const text = (description: string, example?: string): Part => ({
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
});

const responseHeaders: Record<string, Part> = {
  'X-Request-Id': text('request id, also in `details.request_id` of an error'),
  'RateLimit-Policy': text('quota, and window in seconds', '"vote";q=10;w=60'),
  RateLimit: text('remaining quota, and seconds until more is available', '"vote";r=7;t=42'),
  'Retry-After': { description: 'seconds', schema: { type: 'integer', minimum: 1 } },
  'Folkmoot-Unknown': text(
    'unknown names in the request; absent if there are none. JSON Pointers of members; `?` and a ' +
      'name for query parameters; percent-encoded; `...` if there are more. `/personality` means ' +
      'that no scripted agent has this personality',
    '/reson, ?limt',
  ),
  Location: text('URL of the block or page'),
  'WWW-Authenticate': text('signature scheme of requests', 'AgentSig realm="agentnet"'),
};

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const always = { ...header('X-Request-Id'), ...header('Folkmoot-Unknown') };
const quota = { ...header('RateLimit-Policy'), ...header('RateLimit') };

function headersOf(status: number): Part {
  return {
    ...always,
    ...(status === 401 ? header('WWW-Authenticate') : {}),
    ...(status === 429 || status === 503 ? header('Retry-After') : {}),
    ...([400, 401, 403, 404, 409, 429, 503].includes(status) ? quota : {}),
  };
}

class Responses {
  readonly shared: Record<string, Part> = {};
  readonly #lift: Components['lift'];

  constructor({ lift }: Components) {
    this.#lift = lift;
  }

  of(route: Route, reasons: readonly Reason[]): Part {
    const { created, id, redirects } = route;
    const located = id === 'proposeBlock';
    const responses: Part = created
      ? {
          200: this.#succeeded(route, 'repeated request; the result of the first one', false),
          201: this.#succeeded(route, 'success', located),
        }
      : { 200: this.#succeeded(route, 'success', false) };
    if (redirects) {
      responses[302] = this.#succeeded(route, 'redirect to the page', true);
    }
    for (const [status, some] of byStatus(reasons)) responses[status] = this.#failed(status, some);
    return responses;
  }

  /** Operations with the same set of reasons share a response. */
  #failed(status: number, reasons: readonly Reason[]): Part {
    const name = `Refused${status}.${reasons.join('.')}`;
    this.shared[name] ??= {
      description: reasons.map((reason) => `\`${reason}\`: ${table[reason].meaning}`).join('; '),
      headers: headersOf(status),
      content: { 'application/json': { schema: failure(this.#lift(ErrorBody), reasons) } },
    };
    return { $ref: `#/components/responses/${name}` };
  }

  #succeeded(route: Route, description: string, located: boolean): Part {
    const limited = route.reasons.includes('QUOTA_USED') || !('content' in route);
    return {
      description,
      headers: {
        ...always,
        ...(limited ? quota : {}),
        ...(located ? header('Location') : {}),
      },
      content: route.content ? bare(route.content) : this.#enveloped(route.answer!),
    };
  }

  #enveloped(answer: object): Part {
    return { 'application/json': { schema: envelope(this.#lift(answer)) } };
  }
}

const bare = (content: NonNullable<Route['content']>) =>
  Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, schema ? { schema } : {}]),
  );

/** Groups reasons by ascending status, in table order. */
function byStatus(reasons: readonly Reason[]): [number, Reason[]][] {
  const groups = new Map<number, Reason[]>();
  for (const reason of Object.keys(table) as Reason[]) {
    if (!reasons.includes(reason)) continue;
    const { status } = table[reason];
    groups.set(status, [...(groups.get(status) ?? []), reason]);
  }
  return [...groups].sort(([a], [b]) => a - b);
}

function envelope(data: Part): Part {
  return {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { type: 'boolean', const: true }, data },
  };
}

function failure(error: Part, reasons: readonly Reason[]): Part {
  const codes = [...new Set(reasons.map((reason) => table[reason].code))];
  const narrowed = {
    type: 'object',
    properties: {
      code: { type: 'string', enum: codes },
      details: { type: 'object', properties: { reason: { type: 'string', enum: reasons } } },
    },
  };
  return {
    type: 'object',
    required: ['success', 'error'],
    properties: { success: { type: 'boolean', const: false }, error: { allOf: [error, narrowed] } },
  };
}
