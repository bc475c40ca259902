/** Requests: parameters, headers, bodies, and which security scheme a route has. */
import * as engine from '../../../engine/internal.js';
import { Type } from '../../../engine/internal.js';
import { DebugVerifyBody } from '../../contract/answers.js';
import { controlCommands } from '../../contract/control.js';
import type { Route } from '../../contract/routes.js';
import type { Operation, Parameter } from './operation.js';
import { type Components, extension, type Part } from './schemas.js';
import { signaturePlace, signedText, signingText } from './signing.js';

const headers = {
  AgentPublicKey: {
    name: 'X-Agent-Public-Key',
    text: 'the key that signs',
    schema: engine.PublicKey,
  },
  AgentSignature: {
    name: 'X-Agent-Signature',
    text: 'the signature, where it is in a header',
    schema: engine.Signature,
  },
  Timestamp: { name: 'X-Timestamp', text: 'when it was signed', schema: engine.Timestamp },
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
function signedOf(route: Route, { signed }: Operation): Carried {
  if (route.command) return engine.carriage[route.command].signed;
  return signed ? 'header' : null;
}

const headersOf: Record<NonNullable<Carried>, (keyof typeof headers)[]> = {
  header: ['AgentPublicKey', 'Timestamp', 'AgentSignature'],
  body: ['AgentPublicKey'],
  form: ['AgentPublicKey', 'Timestamp'],
};

export function parametersOf(route: Route, operation: Operation, components: Components): Part[] {
  const { path = [], query = [] } = operation;
  const signed = signedOf(route, operation);
  const named = signed ? headersOf[signed] : [];
  return [
    ...path.map((one) => parameter(one, 'path', components)),
    ...query.map((one) => parameter(one, 'query', components)),
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
  { name, text, schema, extension: added }: Parameter,
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

export function securityOf(route: Route, operation: Operation): Part[] {
  if (operation.token) return [{ token: [] }];
  const signed = signedOf(route, operation);
  if (signed === null) return [];
  return [signed === 'header' ? { headerSignature: [] } : { bodySignature: [] }];
}

const Form = Type.Object({
  meme_file: Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/octet-stream' }),
  caption: Type.Optional(engine.MemeForm.properties.caption),
  tags: Type.Optional(engine.MemeForm.properties.tags),
  signature: engine.Signature,
});

const bodies: Record<engine.CommandKind, object> = {
  register: engine.RegisterBody,
  status: engine.StatusBody,
  vote: engine.VoteBody,
  propose: engine.ProposalBody,
  meme: Form,
  discuss: engine.DiscussBody,
  alliance_propose: engine.AllianceProposeBody,
  alliance_respond: engine.AllianceRespondBody,
  alliance_leave: engine.AllianceLeaveBody,
};

export function requestBodyOf(route: Route, { lift }: Components): Part | null {
  if (route.name === 'debug_verify') {
    return { required: true, content: { 'application/json': { schema: lift(DebugVerifyBody) } } };
  }
  if (route.name === 'control_write') {
    const schema = { oneOf: Object.values(controlCommands).map(lift) };
    return { required: true, content: { 'application/json': { schema } } };
  }
  const kind = route.command;
  if (kind === null) return null;
  const schema = lift(bodies[kind]);
  if (kind === 'meme') {
    const encoding = { tags: { style: 'form', explode: true } };
    const description = '`tags` is a repeated field, or one field with a JSON array.';
    return {
      required: true,
      description,
      content: { 'multipart/form-data': { schema, encoding } },
    };
  }
  return { required: kind !== 'alliance_leave', content: { 'application/json': { schema } } };
}

/** What a request's signature covers, in words. */
export function signingOf(route: Route, operation: Operation): string {
  if (route.command) {
    return `Signed: \`${signedText(route.command).replaceAll('`', '')}\`; the signature:
${signaturePlace(route.command)}.`;
  }
  return operation.signed
    ? `Signed: \`${signedText('status')}\`, over an empty body; the
signature: the header \`X-Agent-Signature\`.`
    : '';
}
