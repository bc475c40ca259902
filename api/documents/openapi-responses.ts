/** Responses: the envelope by status, and for each error status the reasons that it may have. */
import { type Reason, reasons as table } from '../../engine/protocol/schema/reason.js';
import { ErrorBody } from '../contract/answers.js';
import type { Route } from '../contract/routes.js';
import type { Components, Part } from './openapi-schemas.js';

const text = (description: string, example?: string): Part => ({
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
});

/** Headers of answers. */
export const responseHeaders: Record<string, Part> = {
  'X-Request-Id': text('names the request, also in `details.request_id` of an error'),
  'RateLimit-Policy': text('quota and window in seconds', '"vote";q=10;w=60'),
  RateLimit: text('what remains, and seconds until more does', '"vote";r=7;t=42'),
  'Retry-After': { description: 'seconds', schema: { type: 'integer', minimum: 1 } },
  'Folkmoot-Unknown': text(
    'names in the request that the protocol does not know, only if there are any: JSON Pointers ' +
      'of members, `?` and a name for query parameters, percent-encoded; `...` for more. ' +
      '`/personality` stands for one that scripted agents do not have',
    '/reson, ?limt',
  ),
  Location: text('where the block, or the page, is read'),
  'WWW-Authenticate': text('how requests are signed', 'AgentSig realm="agentnet"'),
};

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const always = { ...header('X-Request-Id'), ...header('Folkmoot-Unknown') };
const quota = { ...header('RateLimit-Policy'), ...header('RateLimit') };

function headersOf(status: number): Part {
  return {
    ...always,
    ...(status === 401 ? header('WWW-Authenticate') : {}),
    ...(status === 429 || status === 503 ? header('Retry-After') : {}),
    ...([400, 403, 404, 409, 429].includes(status) ? quota : {}),
  };
}

export interface Responses {
  of(route: Route, reasons: readonly Reason[]): Part;
  /** What is referred to. */
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
          200: this.#succeeded(route, 'a repeat: this had been done before', false),
          201: this.#succeeded(route, 'done', located),
        }
      : { 200: this.#succeeded(route, 'done', false) };
    if (redirects) {
      responses[302] = this.#succeeded(route, 'the page to read is elsewhere', true);
    }
    for (const [status, some] of byStatus(reasons)) responses[status] = this.#failed(status, some);
    return responses;
  }

  /** One response for each set of reasons: operations share what they have in common. */
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

/** Reasons in the order of the table, under their statuses, ascending. */
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

/** The table of reasons, for the description of the document. */
export const reasonsText = `| reason | code | status | meaning |
|---|---|---|---|
${Object.entries(table)
  .map(([reason, { code, status, meaning }]) => `| ${reason} | ${code} | ${status} | ${meaning} |`)
  .join('\n')}`;
