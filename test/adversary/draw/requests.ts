/**
 * Requests drawn from the OpenAPI document: every operation, either valid or wrong in some place.
 */
import { type Agent, sha256 } from '../../support/service/signer.js';
import { drawnForm } from './forms.js';
import type { Rng } from './rng.js';
import { type Signing, signatureOf, signInside, stampOf } from './signing.js';
import { type Known, type Schema, spoilt, Values, wounded } from './values.js';

export interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

/** A request before encoding. */
export interface Drawn {
  operationId: string;
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer;
  /** True if only the signature may be wrong. */
  valid: boolean;
}

const wrongSignings: readonly Signing[] = ['wrong', 'other', 'stale', 'garbled', 'none'];

export interface Cast {
  /** Registered agents. */
  agents: readonly Agent[];
  /** Agents that never register. */
  strangers: readonly Agent[];
  known: Known;
}

export class Requests {
  readonly #operations: { path: string; method: string; operation: Operation }[];
  readonly #values: Values;
  readonly #cast: Cast;

  constructor(document: OpenApi, cast: Cast) {
    this.#cast = cast;
    this.#values = new Values(document, cast.known);
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  }

  get operations(): readonly string[] {
    return this.#operations.map(({ operation }) => operation.operationId);
  }

  /**
   * Draws a request. With `refusedOnly`, no write has a valid signature, so no write may change
   * anything.
   */
  draw(rng: Rng, refusedOnly: boolean): Drawn {
    const { path, method, operation } = rng.pick(this.#operations);
    const near = rng.once(2);
    const signing = refusedOnly || rng.once(4) ? rng.pick(wrongSignings) : 'right';
    const target = this.#target(rng, path, operation, near && rng.once(3));
    const media = Object.entries(operation.requestBody?.content ?? {})[0];
    const upper = rng.once(40) ? rng.pick(otherMethods) : method.toUpperCase();
    const drawn: Drawn = {
      operationId: operation.operationId,
      method: upper,
      target,
      headers: [],
      body: Buffer.alloc(0),
      valid: !near,
    };
    const by = this.#signer(rng, operation, signing, refusedOnly);
    if (media?.[0] === 'multipart/form-data') {
      Object.assign(drawn, drawnForm(rng, by, signing, near));
    } else if (media) this.#json(rng, drawn, media[1].schema, { by, signing, near });
    else if (rng.once(20)) drawn.body = rng.bytes(rng.size(3_000));
    this.#sign(rng, drawn, operation, by, signing);
    if (near && rng.once(4)) spoilHeader(rng, drawn.headers);
    return drawn;
  }

  #signer(rng: Rng, { operationId }: Operation, signing: Signing, refusedOnly: boolean) {
    const { agents, strangers } = this.#cast;
    if (operationId === 'registerAgent') return rng.pick(refusedOnly ? strangers : agents);
    return rng.pick(signing === 'right' && !rng.once(20) ? agents : [...agents, ...strangers]);
  }

  #target(rng: Rng, path: string, operation: Operation, near: boolean): string {
    const at = (kind: string) => this.#parameters(operation).filter((one) => one.in === kind);
    let target = path;
    for (const { name, schema } of at('path')) {
      const value = this.#values.valid(rng, schema);
      target = target.replace(`{${name}}`, near ? strangePath(rng, value) : escaped(value));
    }
    const query = at('query').flatMap(({ name, schema }): string[] => {
      if (rng.once(2)) return [];
      const value = this.#values.valid(rng, name === 'cursor' ? cursor : schema);
      const shown = near ? strangePath(rng, value) : escaped(value);
      return rng.once(10) ? [`${name}=${shown}`, `${name}=`] : [`${name}=${shown}`];
    });
    if (rng.once(30)) query.push(`${escaped(rng.text(4))}=${escaped(rng.text(9))}`);
    return query.length > 0 ? `${target}?${query.join('&')}` : target;
  }

  #parameters({ parameters = [] }: Operation): Parameter[] {
    return parameters.map((one) =>
      one.$ref ? (this.#values.resolve(one) as unknown as Parameter) : one,
    );
  }

  #json(
    rng: Rng,
    drawn: Drawn,
    schema: Schema,
    { by, signing, near }: { by: Agent; signing: Signing; near: boolean },
  ): void {
    let fields = this.#values.valid(rng, schema) as Record<string, unknown>;
    if (drawn.operationId === 'registerAgent') fields.public_key = by.publicKey;
    if (drawn.operationId === 'verifyRequest') fields = this.#envelope(rng);
    if (near && !rng.once(3)) fields = spoilt(rng, fields) as Record<string, unknown>;
    const inside = { submitVote: 'vote', proposeBlock: 'block' }[drawn.operationId];
    if (inside && isObject(fields)) signInside(rng, fields, inside, by, signing);
    const text = JSON.stringify(fields) ?? '';
    drawn.body = near && rng.once(4) ? wounded(rng, text) : Buffer.from(text);
    const type = near && rng.once(12) ? rng.pick(mediaTypes) : 'application/json';
    drawn.headers.push(['Content-Type', type]);
  }

  /** Draws a request nested in a request. */
  #envelope(rng: Rng): Record<string, unknown> {
    const { method, target, headers, body } = this.draw(rng, false);
    return { method, target, headers: Object.fromEntries(headers), body: body.toString() };
  }

  #sign(rng: Rng, drawn: Drawn, operation: Operation, by: Agent, signing: Signing): void {
    const names = this.#parameters(operation)
      .filter((one) => one.in === 'header')
      .map(({ name }) => name);
    if (names.length === 0 || signing === 'none') return;
    drawn.headers.push(['X-Agent-Public-Key', by.publicKey]);
    const known = drawn.headers.find(([name]) => name === 'X-Timestamp')?.[1];
    const at = known ?? stampOf(rng, signing);
    if (names.includes('X-Timestamp') && known === undefined)
      drawn.headers.push(['X-Timestamp', at]);
    if (!names.includes('X-Agent-Signature')) return;
    const { method, target, body } = drawn;
    const text = `agentnet-v1-http\n${method}\n${target}\n${at}\n${sha256(body)}`;
    drawn.headers.push(['X-Agent-Signature', signatureOf(rng, by, text, signing)]);
  }
}

const cursor: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const otherMethods = 'HEAD OPTIONS DELETE PATCH GET POST PUT TRACE get X'.split(' ');
const mediaTypes = [
  ...['text/plain', '', 'application/json; charset=latin1', 'multipart/form-data', '/'],
];

const escaped = (value: unknown) =>
  encodeURIComponent(Buffer.from(Array.isArray(value) ? value.join(',') : `${value}`).toString());

const strangeParts = [
  ...'%00 % %zz %ff %F0%9F%98%80 %2e%2e .. . %2F %20 %C0%AF %u0041'.split(' '),
  ...['-1', '0', '1e3', '1.5', '0x10', '9007199254740993', '1001', 'NaN', 'null', '+1', '%0d%0a'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '%ED%A0%80',
    'a'.repeat(513),
    '%41'.repeat(64),
    '"',
    "'",
  ],
  ...['[]', '{}', ';', '|', '*', '~', '%', 'a,b', ',,', 'true', '=', '&', '\\'],
];

function strangePath(rng: Rng, value: unknown): string {
  if (rng.once(3)) return `${escaped(value)}${rng.pick(strangeParts)}`;
  return rng.once(6) ? escaped(rng.text(rng.size(600))) : rng.pick(strangeParts);
}

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Changes a header. */
function spoilHeader(rng: Rng, headers: [string, string][]): void {
  if (headers.length === 0) return;
  const at = rng.int(headers.length);
  const [name, value] = headers[at]!;
  headers[at] = rng.pick<[string, string]>([
    [name, ''],
    [name, ` ${value}\t`],
    [name, `${value}, ${value}`],
    [name, value.toUpperCase()],
    [name, `"${value}"`],
    [name.toUpperCase(), value],
    [name, `${value}\u00ff`],
    [name, value.slice(1)],
    [name, 'x'.repeat(1 + rng.int(3_000))],
    [`X-${name}`, value],
  ]);
  if (rng.once(4)) headers.push([name, value]);
}
