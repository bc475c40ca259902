/**
 * A route's declaration: the type, and the parameters that several routes share. One declaration
 * contains path, parameters, answer, refusals and texts of a route; router, parsing of parameters,
 * documents, client types and tests derive from it. Declarations have no Node imports; the client
 * imports their types only.
 */
import { type Static, type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import { AgentId, Hash } from '../../engine/protocol/schema/primitives.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import { isHash } from '../../engine/protocol/text.js';

/** The groups of the OpenAPI document. */
export const tags = {
  agents: 'Registration and availability',
  consensus: 'Proposing blocks, voting, discussing',
  network: 'State of the network and its history',
  social: 'Memes, alliances, reputation',
  control: 'The clock of the world that is shown',
  debug: 'What the server would have verified, and what it knows of a connection',
  operations: 'For the operator of the server',
  documents: 'These documents',
} as const;

/** A parameter of a path or query: its documentation, and how the server reads its text. */
export interface Parameter<S extends TSchema = TSchema, V = unknown> {
  readonly text: string;
  readonly schema: S;
  /** Beyond the interface. */
  readonly extension?: true;
  /** Completes "is not" in a refusal. */
  readonly expected: string;
  /** The value of a text, or of an absent one (null); undefined where the text is not valid. */
  read(text: string | null): V | undefined;
}

type Parameters = Readonly<Record<string, Parameter>>;

/** Declaration of one route. Its name is its key in the table. */
export interface Declared {
  /** Default: GET. */
  readonly method?: 'POST';
  /** With its parameters in braces; also the label that metrics count it by. */
  readonly path: string;
  /** `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly text?: string;
  /** Beyond the interface. */
  readonly extension?: true;
  /** The parameters of the path, in order, by their names in documents and refusals. */
  readonly parameters?: Parameters;
  /** The parameters of the query. The server reads them in this order. */
  readonly query?: Parameters;
  /** The schema of a JSON body; several: one of them. */
  readonly body?: TSchema | readonly TSchema[];
  /** The largest body that the server reads. Default: none. */
  readonly bodyBytes?: number;
  /** `data` of the answer. */
  readonly answer?: TSchema;
  /** The answer where it is not in an envelope: media type to schema, null for bytes. */
  readonly content?: Readonly<Record<string, TSchema | null>>;
  /** The first time is answered 201, a repeat 200. */
  readonly created?: true;
  /** A client that does not ask for JSON is redirected, 302. */
  readonly redirects?: true;
  /** Reasons of refusal. The documents add those that any request may meet. */
  readonly reasons: readonly Reason[];
  /** Signed by header although it changes nothing. */
  readonly signed?: true;
  /** Needs the operator's token. */
  readonly token?: true;
}

/** The values of a route's parameters, by name. */
export type Asked<D> = ValuesOf<D, 'parameters'> & ValuesOf<D, 'query'>;

type ValuesOf<D, Where extends 'parameters' | 'query'> =
  D extends Record<Where, infer P>
    ? { [K in keyof P]: P[K] extends Parameter<TSchema, infer V> ? V : never }
    : unknown;

/** Parameters in the query of a route. */
export type Sent<D> = D extends { query: infer Q }
  ? { readonly [K in keyof Q]?: Q[K] extends Parameter<infer S> ? Listed<Static<S>> : never }
  : unknown;

type Listed<V> = V extends readonly (infer E)[] ? readonly E[] : V;

/** The data of a route's answer. */
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

/** A whole number, from 0 where nothing else is given; null where it is absent without default. */
export function whole<R extends Range>(text: string, expected: string, range?: R): Whole<R> {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, default: otherwise = null } = range ?? {};
  const read = (sent: string | null) => {
    if (sent === null) return otherwise;
    const value = /^\d{1,15}$/.test(sent) ? Number(sent) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };
  return { text, schema: Type.Integer({ minimum, ...range }), expected, read } as Whole<R>;
}

export const entryNumber = (text: string) => whole(text, 'the number of an entry');

/** Largest number of rows of a page. */
export const rows = <R extends Range>(range: R, text = 'rows at the most') =>
  whole(text, `a whole number from 1 to ${limits.pageRows}`, {
    ...{ minimum: 1, maximum: limits.pageRows },
    ...range,
  });

const cursorText = {
  text: 'the `next_cursor` of the page before',
  schema: Type.String(),
  expected: 'the next_cursor of a page',
};

/** Where a page begins that goes on by a number. */
export const cursor: Parameter<typeof cursorText.schema, number | null> = {
  ...cursorText,
  read: whole('', '').read,
};

/** Where a page begins that goes on by a text. */
export const textCursor = (
  pattern: RegExp,
): Parameter<typeof cursorText.schema, string | null> => ({
  ...cursorText,
  read: (sent) => (sent === null || pattern.test(sent) ? sent : undefined),
});

/** A parameter of a path. */
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

/** An id that a prefix and 32 hexadecimal characters make. */
export const idInPath = <S extends TSchema>(text: string, schema: S, prefix: string) =>
  inPath(
    text,
    schema,
    `${prefix} and 32 lower-case hex characters`,
    matching(new RegExp(`^${prefix}[0-9a-f]{32}$`)),
  );

export const hashInPath = (text: string) => inPath(text, Hash, '64 hex characters', isHash);

export const agentInPath = idInPath('the agent', AgentId, 'agent_');

export const keyInPath = inPath(
  'its key, percent-encoded',
  Type.String(),
  '1 to 128 printable ASCII characters, no blank',
  matching(/^[\x21-\x7e]{1,128}$/),
);
