/**
 * Checks responses against the OpenAPI document: status, media type and schema. Undocumented
 * members count as problems, so that the document stays complete.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isDuration, parseInstant } from 'folkmoot';
import { openapiDocument } from '../../../dist/api/documents/documents.js';

export interface AnswerToCheck {
  method: string;
  /** Path and query, as sent. */
  target: string;
  status: number;
  /** Content type as received; null or '' if absent. */
  contentType: string | null;
  /** Raw or parsed body. */
  body: unknown;
  /** Names of the received headers, in lower case. Default: headers are not checked. */
  headerNames?: readonly string[];
}

type Part = { [member: string]: unknown };
type Media = Record<string, { schema?: Part }>;
interface Answer {
  $ref?: string;
  content?: Media;
  headers?: object;
}
type Operation = { operationId: string; responses: Record<string, Answer> };
type Paths = Record<string, Record<string, Operation>>;

const document = closed(openapiDocument()) as Part & {
  paths: Paths;
  components: { headers: object };
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
ajv.addFormat('date-time', (text) => parseInstant(text) !== null);
ajv.addFormat('duration', isDuration);
ajv.addSchema(document, 'openapi');
const compiled = new Map<string, ValidateFunction>();

/** Returns the problems in a response. */
export function checkResponse(answer: AnswerToCheck): string[] {
  const { method, target, status } = answer;
  const upper = method.toUpperCase();
  const about = (problem: string) => `${upper} ${target} ${status}: ${problem}`;
  if (upper === 'OPTIONS' && status === 204) return [];
  const found = operationAt(upper === 'HEAD' ? 'get' : upper.toLowerCase(), target);
  if (typeof found === 'number') return strayProblems(answer, found).map(about);
  const pointer = ['paths', found.path, found.method, 'responses', String(status)];
  const documented = document.paths[found.path]?.[found.method]?.responses?.[status];
  if (!documented) return [about('a status that is not documented')];
  const shared = documented.$ref?.split('/').slice(1);
  const media = shared ? (valueAt(shared) as Answer) : documented;
  const undocumented = headerProblems(answer.headerNames ?? [], media.headers ?? {});
  return [...undocumented, ...mediaProblems(answer, media.content ?? {}, shared ?? pointer)].map(
    about,
  );
}

/** Reports headers that the document describes, but not for this response. */
function headerProblems(received: readonly string[], documented: object): string[] {
  const described = lowerNames(document.components.headers);
  const here = lowerNames(documented);
  return received
    .filter((name) => described.includes(name) && !here.includes(name))
    .map((name) => `the header ${name} is not documented`);
}

const lowerNames = (members: object) => Object.keys(members).map((name) => name.toLowerCase());

/** Returns the operation for a target, or 404 or 405. */
function operationAt(method: string, target: string) {
  const path = target.split('?', 1)[0]!;
  const paths = Object.keys(document.paths);
  const templated = (one: string) =>
    new RegExp(`^${one.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  // A path without parameters takes precedence, as in OpenAPI and in the server.
  const known = paths.includes(path) ? path : paths.find(templated);
  if (known === undefined) return 404;
  return document.paths[known]![method] ? { path: known, method } : 405;
}

/** Checks the response to an unknown route or method. */
function strayProblems(answer: AnswerToCheck, expected: number): string[] {
  const { method, status, body, contentType } = answer;
  if (status !== expected) return [`expected ${expected}: no operation is documented here`];
  if (!/^application\/json\b/.test(contentType ?? '')) return ['not JSON'];
  if (method.toUpperCase() === 'HEAD') return [];
  const { error } = (parsed(body) ?? {}) as { error?: unknown };
  return validate(['components', 'schemas', 'Error'], error);
}

function mediaProblems({ method, contentType, body }: AnswerToCheck, media: Media, at: string[]) {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const key = [type, `${type.split('/')[0]}/*`].find((one) => media[one]);
  if (key === undefined) return [`the media type ${type || '(none)'} is not documented`];
  if (method.toUpperCase() === 'HEAD' || !media[key]!.schema) return [];
  const value = type === 'application/json' ? parsed(body) : textOf(body);
  return validate([...at, 'content', key, 'schema'], value);
}

function validate(at: readonly string[], value: unknown): string[] {
  const steps = at.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'));
  const $ref = `openapi#/${steps.map(encodeURIComponent).join('/')}`;
  const known = compiled.get($ref) ?? ajv.compile({ $ref });
  compiled.set($ref, known);
  if (known(value)) return [];
  return (known.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
}

const textOf = (body: unknown) =>
  body instanceof Uint8Array ? Buffer.from(body).toString() : body;

function parsed(body: unknown): unknown {
  const text = textOf(body);
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return undefined;
  }
}

function valueAt(steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (value as Part)[step], document);
}

/**
 * Closes the objects in the document to unknown members. Requests (which preserve unknown members),
 * error details, and schemas that only narrow a different schema stay open.
 */
function closed(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, name === 'allOf' ? 'allOf' : ''));
  if (typeof value !== 'object' || value === null) return value;
  if (name === 'allOf' || name === 'ErrorDetails' || name.endsWith('Body')) return value;
  const entries = Object.entries(value).map(([member, one]) => [member, closed(one, member)]);
  const shape = Object.fromEntries(entries) as Part;
  const properties = shape.type === 'object' ? shape.properties : undefined;
  const isShape = properties !== undefined && Object.keys(properties as Part).length > 0;
  return isShape ? { additionalProperties: false, ...shape } : shape;
}
