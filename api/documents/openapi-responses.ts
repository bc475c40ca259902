/**
 * Responses in the OpenAPI document: envelopes by status, and the reasons for each error status.
 */
import { type Reason, reasons as table } from '../../engine/protocol/schema/reason.js';
import { ErrorBody } from '../contract/answers.js';
import type { Route } from '../contract/routes.js';
import type { Components, Part } from './openapi-schemas.js';

const text = (description: string, example?: string): Part => ({
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
});

export const responseHeaders: Record<string, Part> = {
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

export interface Responses {
  of(route: Route, reasons: readonly Reason[]): Part;
  readonly shared: Record<string, Part>;
}

export const createResponses = (components: Components): Responses =>
  new SharedResponses(components);

class SharedResponses implements Responses {
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

/** Table of all reasons, for the document's description. */
export const reasonsText = `| reason | code | status | meaning |
|---|---|---|---|
${Object.entries(table)
  .map(([reason, { code, status, meaning }]) => `| ${reason} | ${code} | ${status} | ${meaning} |`)
  .join('\n')}`;
