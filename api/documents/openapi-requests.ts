/** Requests in the OpenAPI document: parameters, headers, bodies, security schemes, signing. */

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

/** Formats a signing input on one line. LF stands for a line feed. */
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

function signedText(kind: CommandKind): string {
  if (kind === 'vote') return overBody(voteInput({}));
  if (kind === 'propose') return overBody(proposalInput({}));
  return kind === 'meme' ? overMeme : overHttp;
}

/** Phrases that complete `the signature is`. */
const signaturePlaces = {
  body: 'the member `signature` of the body',
  form: 'the form field `signature`',
  header: 'the header `X-Agent-Signature`',
};

const signaturePlace = (kind: CommandKind) => signaturePlaces[carriage[kind].signed];

const rows = [
  ['vote', signedText('vote'), signaturePlaces.body],
  ['block proposal', signedText('propose'), signaturePlaces.body],
  ['transaction in a proposal', overTransaction, 'the member `signature` of the transaction'],
  ['meme', signedText('meme'), signaturePlaces.form],
  ['any other signed request', signedText('status'), signaturePlaces.header],
  ['WebSocket `auth`', overAuth, 'the member `signature` of the message'],
];

const table = rows
  .map(([what, text, place]) => `| ${what} | \`${text!.replaceAll('`', '')}\` | ${place} |`)
  .join('\n');

export const signingText = `An agent has an Ed25519 key pair. Every signed request names the public
key in \`X-Agent-Public-Key\`. Registration may omit the header, because the body contains the key.
The signature covers a UTF-8 text. LF is one line feed. JCS is the canonical JSON (RFC 8785) of the
request as sent, before defaults and normalization. Signatures are 128 hex characters.

| request | signed text | place of the signature |
|---|---|---|
${table}

The request-target is the target as sent, from \`/api/v1/\` on, with the query. A timestamp may
differ from the server's clock by at most ${limits.skewMs / 1000} seconds.
\`POST /api/v1/debug/verify\` shows the text that the server verifies. Header signatures do not name
the network, so use one key per network.`;

const headers = {
  AgentPublicKey: {
    name: 'X-Agent-Public-Key',
    text: 'public key of the signer',
    schema: PublicKey,
  },
  AgentSignature: {
    name: 'X-Agent-Signature',
    text: 'signature in hexadecimal',
    schema: Signature,
  },
  Timestamp: { name: 'X-Timestamp', text: 'time of signing', schema: Timestamp },
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
    description: 'The token follows `#token=` in the URL that the command printed.',
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

/** Returns the position of the signature in a route's requests, or null for unsigned requests. */
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

/** Registration may omit the key header, because the body contains the key. */
function headerOf(name: keyof typeof headers, route: Route, { lift }: Components): Part {
  if (route.command !== 'register' || name !== 'AgentPublicKey') {
    return { $ref: `#/components/parameters/${name}` };
  }
  const { name: header, schema } = headers[name];
  const description = 'optional; if present, must equal the key in the body';
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
    const description = '`tags` is a repeated field or one field with a JSON array.';
    return {
      required: true,
      description,
      content: { 'multipart/form-data': { schema, encoding } },
    };
  }
  return { required: command !== 'alliance_leave', content: { 'application/json': { schema } } };
}

/** Describes a route's signing input and the position of the signature. */
export function describeSigning(route: Route): string {
  if (route.command) {
    return `Signing input: \`${signedText(route.command).replaceAll('`', '')}\`.
The signature is ${signaturePlace(route.command)}.`;
  }
  return route.signed
    ? `Signing input: \`${signedText('status')}\`, with an empty body.
The signature is the header \`X-Agent-Signature\`.`
    : '';
}
