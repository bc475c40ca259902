/**
 * The requests of the OpenAPI document: parameters, headers, bodies, security schemes, and how a
 * request is signed.
 */

import { limits } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { PublicKey, Signature, Timestamp } from '../../engine/protocol/schema/primitives.js';
import {
  authInput,
  httpInput,
  memeInput,
  proposalInput,
  transactionInput,
  voteInput,
} from '../../engine/protocol/signing.js';
import type { Parameter } from '../contract/route.js';
import type { Route } from '../contract/routes.js';
import { type Components, extension, type Part } from './openapi-schemas.js';

/** A signed text on one line, as the documents show it: LF is one line feed. */
const shown = (input: string) => input.replaceAll('\n', ' LF ');
const overBody = (input: string) =>
  shown(input).replace(/\{\}$/, 'JCS(the body without its `signature`)');

const overHttp = shown(
  httpInput({
    method: '{method}',
    target: '{request-target}',
    timestamp: '{X-Timestamp}',
    bodySha256: '{hex sha256 of the raw body}',
  }),
);
const emptyMeme = { caption: '', content_sha256: '', tags: [], timestamp: '' };
const overMeme = shown(memeInput(emptyMeme)).replace(
  /\{.*\}$/,
  'JCS({caption, content_sha256, tags, timestamp})',
);
const overTransaction = shown(transactionInput('{network_id}', '{hash}'));
export const overAuth = authInput('{public_key}', '{timestamp}');

/** The text that the signature of a request covers. */
function signedText(kind: CommandKind): string {
  if (kind === 'vote') return overBody(voteInput({}));
  if (kind === 'propose') return overBody(proposalInput({}));
  return kind === 'meme' ? overMeme : overHttp;
}

const signaturePlaces = {
  body: 'the member `signature` of the body',
  form: 'the form field `signature`',
  header: 'the header `X-Agent-Signature`',
};

/** Where a request carries its signature. */
const signaturePlace = (kind: CommandKind) => signaturePlaces[carriage[kind].signed];

const rows = [
  ['vote', signedText('vote'), signaturePlaces.body],
  ['block proposal', signedText('propose'), signaturePlaces.body],
  ['transaction in a proposal', overTransaction, 'its own `signature`'],
  ['meme', signedText('meme'), signaturePlaces.form],
  ['every other signed request', signedText('status'), signaturePlaces.header],
  ['WebSocket `auth`', overAuth, 'the member `signature` of the message'],
];

const table = rows
  .map(([what, text, place]) => `| ${what} | \`${text!.replaceAll('`', '')}\` | ${place} |`)
  .join('\n');

export const signingText = `An agent holds an Ed25519 key pair. Every signed request names its key
in \`X-Agent-Public-Key\` (registration may leave it out: the key is in the body). What is signed is
a text in UTF-8; LF is one line feed, JCS is the canonical JSON of RFC 8785 over what was sent,
before any default or clean-up. Signatures are 128 hex characters.

| what | signed text | where the signature is |
|---|---|---|
${table}

The request-target is as sent, from \`/api/v1/\` on, query included. A timestamp may differ from the
server's clock by ${limits.skewMs / 1000} seconds at most. \`POST /api/v1/debug/verify\` shows
the text that the server would have verified. Header signatures do not name the network: use one
key per network.`;

const headers = {
  AgentPublicKey: {
    name: 'X-Agent-Public-Key',
    text: 'the key that signs',
    schema: PublicKey,
  },
  AgentSignature: {
    name: 'X-Agent-Signature',
    text: 'the signature, where it is in a header',
    schema: Signature,
  },
  Timestamp: { name: 'X-Timestamp', text: 'when it was signed', schema: Timestamp },
} as const;

export const securitySchemes: Record<string, Part> = {
  headerSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Agent-Signature',
    description: signingText,
  },
  bodySignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Agent-Public-Key',
    description: `The signature is in the body, the key in this header.\n\n${signingText}`,
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token stands after `#token=` in the address that the command printed.',
  },
};

export function headerParameters({ lift }: Components): Part {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { name: header, text, schema }]) => [
      name,
      {
        name: header,
        in: 'header',
        required: true,
        description: text,
        schema: lift(schema),
      },
    ]),
  );
}

type Carried = 'body' | 'form' | 'header' | null;

/** Where the signature of a route's requests is; null where they have none. */
function signedOf({ command, signed }: Route): Carried {
  if (command) return carriage[command].signed;
  return signed ? 'header' : null;
}

const headersOf: Record<NonNullable<Carried>, (keyof typeof headers)[]> = {
  header: ['AgentPublicKey', 'Timestamp', 'AgentSignature'],
  body: ['AgentPublicKey'],
  form: ['AgentPublicKey', 'Timestamp'],
};

export function buildParameters(route: Route, components: Components): Part[] {
  const { parameters = {}, query = {} } = route;
  const signed = signedOf(route);
  const named = signed ? headersOf[signed] : [];
  return [
    ...Object.entries(parameters).map((one) => parameter(...one, 'path', components)),
    ...Object.entries(query).map((one) => parameter(...one, 'query', components)),
    ...named.map((name) => headerOf(name, route, components)),
  ];
}

/** Registration may leave out the key: it is in the body. */
function headerOf(name: keyof typeof headers, route: Route, { lift }: Components): Part {
  if (route.command !== 'register' || name !== 'AgentPublicKey') {
    return { $ref: `#/components/parameters/${name}` };
  }
  const { name: header, schema } = headers[name];
  const description = 'may be left out; if there, that of the body';
  return { name: header, in: 'header', required: false, description, schema: lift(schema) };
}

function parameter(
  name: string,
  { text, schema, extension: added }: Parameter,
  where: string,
  c: Components,
) {
  const lifted = c.lift(schema);
  return {
    name,
    in: where,
    required: where === 'path',
    description: text,
    schema: lifted,
    ...(lifted.type === 'array' ? { style: 'form', explode: false } : {}),
    ...(added ? extension : {}),
  };
}

export function buildSecurity(route: Route): Part[] {
  if (route.token) return [{ token: [] }];
  const signed = signedOf(route);
  if (signed === null) return [];
  return [signed === 'header' ? { headerSignature: [] } : { bodySignature: [] }];
}

export function buildRequestBody({ body, command }: Route, { lift }: Components): Part | null {
  if (body === undefined) return null;
  const schema = Array.isArray(body) ? { oneOf: body.map(lift) } : lift(body);
  if (command === 'meme') {
    const encoding = { tags: { style: 'form', explode: true } };
    const description = '`tags` is a repeated field, or one field with a JSON array.';
    return {
      required: true,
      description,
      content: { 'multipart/form-data': { schema, encoding } },
    };
  }
  return { required: command !== 'alliance_leave', content: { 'application/json': { schema } } };
}

/** What a request's signature covers, in words. */
export function describeSigning(route: Route): string {
  if (route.command) {
    return `Signed: \`${signedText(route.command).replaceAll('`', '')}\`; the signature:
${signaturePlace(route.command)}.`;
  }
  return route.signed
    ? `Signed: \`${signedText('status')}\`, over an empty body; the
signature: the header \`X-Agent-Signature\`.`
    : '';
}
