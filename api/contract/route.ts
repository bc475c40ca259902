/**
 * Route declarations, and parameters that several routes share. A declaration contains a route's
 * path, parameters, response, refusals and texts. The router, parameter parsing, documents, client
 * types and tests derive from the declaration. Declarations import nothing from Node, and the
 * client imports only their types.
 */
import { type Static, type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import { AgentId, Hash } from '../../engine/protocol/schema/primitives.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import { isHash } from '../../engine/protocol/text.js';

/** Tags in the OpenAPI document. */
export const tags = {
  agents: 'Registration and availability of agents',
  consensus: 'Block proposals, votes and discussion',
  network: 'Network state and history',
  social: 'Memes, alliances and reputation',
  control: 'Clock control',
  debug: 'Debugging of signatures and connections',
  operations: 'Metrics and health checks for the operator',
  documents: 'API documents and web pages',
} as const;

/** A path or query parameter: its documentation and its parser. */
export interface Parameter<S extends TSchema = TSchema, V = unknown> {
  readonly text: string;
  readonly schema: S;
  /** True if the parameter is not in the original interface. */
  readonly extension?: true;
  /** Noun phrase for the refusal of an invalid value. */
  readonly expected: string;
  /** Parses a value, or null if absent. Returns undefined if the value is invalid. */
  read(text: string | null): V | undefined;
}

type Parameters = Readonly<Record<string, Parameter>>;

/** Declaration of a route. Its key in the table is the route's name. */
export interface Declared {
  /** Default: GET. */
  readonly method?: 'POST';
  /** Path with parameters in braces. Also used as the label in metrics. */
  readonly path: string;
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly text?: string;
  readonly extension?: true;
  /** Path parameters in order, by their names in documents and refusals. */
  readonly parameters?: Parameters;
  /** Query parameters. The server reads them in this order. */
  readonly query?: Parameters;
  /** Schema of the JSON body, or alternatives. */
  readonly body?: TSchema | readonly TSchema[];
  /** Largest accepted body in bytes. Default: no body. */
  readonly bodyBytes?: number;
  /** Schema of the response's `data`. */
  readonly answer?: TSchema;
  /** Response without an envelope: media type to schema, or null for bytes. */
  readonly content?: Readonly<Record<string, TSchema | null>>;
  /** True if the first request is answered with 201 and a repeat with 200. */
  readonly created?: true;
  /** True if the route redirects (302) a client that does not accept JSON. */
  readonly redirects?: true;
  /** Refusal reasons. The documents add the reasons that apply to every request. */
  readonly reasons: readonly Reason[];
  /** True for a read-only route whose requests are signed by header. */
  readonly signed?: true;
  /** True if the route requires the control token. */
  readonly token?: true;
}

/** A route's parameter values, by name. */
export type Asked<D> = ValuesOf<D, 'parameters'> & ValuesOf<D, 'query'>;

type ValuesOf<D, Where extends 'parameters' | 'query'> =
  D extends Record<Where, infer P>
    ? { [K in keyof P]: P[K] extends Parameter<TSchema, infer V> ? V : never }
    : unknown;

export type Sent<D> = D extends { query: infer Q }
  ? { readonly [K in keyof Q]?: Q[K] extends Parameter<infer S> ? Listed<Static<S>> : never }
  : unknown;

type Listed<V> = V extends readonly (infer E)[] ? readonly E[] : V;

export type AnswerOf<D> = D extends { answer: infer S extends TSchema } ? Static<S> : unknown;

interface Range {
  minimum?: number;
  maximum?: number;
  default?: number;
}

type Whole<R> = Parameter<
  ReturnType<typeof Type.Integer>,
  R extends { default: number } ? number : number | null
>;

/** Declares an integer parameter of at least 0. An absent value yields the default, or null. */
export function whole<R extends Range>(text: string, expected: string, range?: R): Whole<R> {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, default: otherwise = null } = range ?? {};
  const read = (sent: string | null) => {
    if (sent === null) return otherwise;
    const value = /^\d{1,15}$/.test(sent) ? Number(sent) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };
  return { text, schema: Type.Integer({ minimum, ...range }), expected, read } as Whole<R>;
}

export const entryNumber = (text: string) => whole(text, 'an entry number');

/** Declares a page size parameter. */
export const rows = <R extends Range>(range: R, text = 'maximum number of rows') =>
  whole(text, `an integer from 1 to ${limits.pageRows}`, {
    ...{ minimum: 1, maximum: limits.pageRows },
    ...range,
  });

const cursorText = {
  text: '`next_cursor` of the previous page',
  schema: Type.String(),
  expected: 'the next_cursor of a previous page',
};

export const cursor: Parameter<typeof cursorText.schema, number | null> = {
  ...cursorText,
  read: whole('', '').read,
};

export const textCursor = (
  pattern: RegExp,
): Parameter<typeof cursorText.schema, string | null> => ({
  ...cursorText,
  read: (sent) => (sent === null || pattern.test(sent) ? sent : undefined),
});

export const inPath = <S extends TSchema>(
  text: string,
  schema: S,
  expected = '',
  fits: (sent: string) => boolean = () => true,
): Parameter<S, string> => ({
  ...{ text, schema, expected },
  read: (sent) => (sent !== null && fits(sent) ? sent : undefined),
});

const matching = (pattern: RegExp) => (sent: string) => pattern.test(sent);

/** Declares an id parameter: a prefix and 32 hexadecimal characters. */
export const idInPath = <S extends TSchema>(text: string, schema: S, prefix: string) =>
  inPath(
    text,
    schema,
    `${prefix} followed by 32 lower-case hex characters`,
    matching(new RegExp(`^${prefix}[0-9a-f]{32}$`)),
  );

export const hashInPath = (text: string) => inPath(text, Hash, '64 hex characters', isHash);

export const agentInPath = idInPath('agent id', AgentId, 'agent_');

export const keyInPath = inPath(
  'state key, percent-encoded',
  Type.String(),
  '1 to 128 printable ASCII characters without spaces',
  matching(/^[\x21-\x7e]{1,128}$/),
);
