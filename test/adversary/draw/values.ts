/** JSON values from a document's schemas, valid or wrong in one place. */
import type { Rng } from './rng.js';

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/** Existing ids and keys by schema name. Random values would not hit these. */
export type Known = Record<string, string[]>;

/** Values drawn from one document. */
export class Values {
  constructor(
    private readonly document: unknown,
    private readonly known: Known,
  ) {}

  resolve({ $ref }: Schema): Schema {
    const steps = $ref!.split('/').slice(1);
    return steps.reduce<unknown>((at, to) => (at as Record<string, unknown>)[to], this.document)!;
  }

  /** Returns a value that the schema allows. */
  valid(rng: Rng, schema: Schema): unknown {
    const { $ref } = schema;
    if ($ref !== undefined) {
      const known = this.known[$ref.slice($ref.lastIndexOf('/') + 1)] ?? [];
      if (known.length > 0 && !rng.once(5)) return rng.pick(known);
      return this.valid(rng, this.resolve(schema));
    }
    if ('const' in schema) return schema.const;
    if (schema.enum) return rng.pick(schema.enum);
    const parts = schema.anyOf ?? schema.allOf;
    if (parts) return this.valid(rng, rng.pick(parts));
    return this.#ofType(rng, schema);
  }

  #ofType(rng: Rng, schema: Schema): unknown {
    const { type, minimum = 0, maximum = 1_000 } = schema;
    if (type === 'object') return this.#object(rng, schema);
    if (type === 'array') return this.#array(rng, schema);
    if (type === 'integer') return minimum + rng.int(maximum - minimum + 1);
    if (type === 'number') return rng.int(1_000) / 8;
    if (type === 'boolean') return rng.once(2);
    if (type === 'string') return text(rng, schema);
    return rng.pick<unknown>([null, 1, 'any', { nested: [true] }, []]);
  }

  #object(rng: Rng, { properties = {}, patternProperties = {}, required = [] }: Schema) {
    const object: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      if (required.includes(name) || rng.once(2)) object[name] = this.valid(rng, schema);
    }
    for (const [pattern, schema] of Object.entries(patternProperties)) {
      for (let left = rng.size(20); left > 0; left -= 1) {
        object[text(rng, { pattern, maxLength: 30 })] = this.valid(rng, schema);
      }
    }
    return object;
  }

  #array(rng: Rng, { items = {}, minItems = 0, maxItems = 40, uniqueItems }: Schema) {
    const most = Math.min(maxItems, 40) - minItems;
    const length = minItems + rng.size(most);
    const values = Array.from({ length }, () => this.valid(rng, items));
    return uniqueItems ? [...new Set(values)] : values;
  }
}

const formats: Record<string, (rng: Rng) => string> = {
  'date-time': (rng) => new Date(Date.now() - rng.int(2_000)).toISOString(),
  duration: (rng) => rng.pick(['PT1H', 'P1D', 'PT1M', 'PT90S', 'P2W', 'P1DT12H', 'PT0.5H']),
};

const candidates = ['rational', 'lawful', 'gm', 'a_b-C9', 'ключ', 'x'];

function text(rng: Rng, schema: Schema): string {
  const { minLength = 0, maxLength = 40, pattern, format } = schema;
  if (format && formats[format]) return formats[format](rng);
  const hex = pattern?.match(/^\^(\w*?)\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/);
  if (hex) return hex[1] + rng.hex(Number(hex[2]));
  const length = minLength + rng.size(maxLength - minLength);
  if (!pattern) return rng.text(length);
  const allowed = new RegExp(pattern, 'u');
  const drawn = Array.from({ length: 8 }, () => rng.text(Math.max(1, length)));
  return [...drawn, ...candidates].find((one) => allowed.test(one)) ?? 'x';
}

/** Replacements of a different kind for a value. */
const strangers: readonly ((rng: Rng, was: unknown) => unknown)[] = [
  () => null,
  () => '',
  () => ' ',
  () => true,
  () => [],
  () => ({}),
  (rng) => rng.pick([0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e300, 5e-324]),
  (_, was) => [was],
  (_, was) => ({ value: was }),
  (_, was) => `${was}`,
  (_, was) => `${was} `,
  (_, was) => `${was}\u0000`,
  (_, was) => `${was}\n`,
  (_, was) => `${was}`.toUpperCase(),
  (_, was) => `${was}`.slice(1),
  (_, was) => `0x${was}`,
  (rng) => rng.text(rng.pick([1, 31, 32, 33, 64, 65, 128, 129, 256, 257, 280, 281, 513])),
  (rng) => 'x'.repeat(rng.pick([1_024, 1_025, 2_048, 2_049, 4_096, 4_097, 9_000])),
  (rng) => '😀'.repeat(rng.pick([32, 64, 65, 280, 281, 2_048, 2_049])),
  (rng) => '\ud800'.repeat(1 + rng.int(3)),
  (rng) => nested(rng.pick([14, 15, 16, 17, 60])),
  (rng) => new Array(rng.pick([11, 17, 32, 1_001])).fill(rng.hex(64)),
  (rng) => `-PT${rng.int(9)}S`,
  () => 'P1Y2M',
  () => '2026-02-30T00:00:00Z',
  () => '2026-06-30T23:59:60Z',
  () => 'agent_00000000000000000000000000000000',
];

const nested = (depth: number) =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 1);

const strangeNames = [
  ...['__proto__', 'constructor', 'prototype', '', '\u0000', 'x'.repeat(600), 'extra'],
];

/** Returns a copy of the value that is wrong in one place. */
export function spoilt(rng: Rng, value: unknown): unknown {
  const inside = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (inside.length === 0 || rng.once(6)) return rng.pick(strangers)(rng, value);
  if (Array.isArray(value)) {
    const at = rng.int(value.length);
    if (rng.once(3)) return [...value, ...value];
    return value.map((one, index) => (index === at ? spoilt(rng, one) : one));
  }
  const entries = Object.entries(value as object);
  const at = rng.int(entries.length);
  if (rng.once(5)) return Object.fromEntries(entries.filter((_, index) => index !== at));
  if (rng.once(4)) return withMember(entries, rng.pick(strangeNames), rng.size(9));
  const changed = entries.map(([key, one], index) => [key, index === at ? spoilt(rng, one) : one]);
  return Object.fromEntries(changed);
}

/** Defines the member, so that `__proto__` becomes an ordinary member. */
function withMember(entries: [string, unknown][], name: string, value: unknown): object {
  const object = Object.fromEntries(entries);
  return Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
}

/** Ways to damage a JSON text. */
const wounds: readonly ((rng: Rng, text: string) => string | Buffer)[] = [
  (rng, text) => text.slice(0, rng.int(text.length)),
  (rng, text) => Buffer.from(text).subarray(rng.int(text.length)),
  (_, text) => `\ufeff${text}`,
  (_, text) => Buffer.from(text, 'utf16le'),
  (_, text) => text.replace('{', '{"a":1,"a":2,'),
  (_, text) => text.replace(/"(\w+)":/, '"$1":1,"$1":'),
  (_, text) => text.replace('{', '{"__proto__":{"admin":true},'),
  (_, text) => text.replace('{', '{"\\ud800":1,'),
  (_, text) => text.replace(':', ': 1e400 ,"rest":'),
  (_, text) => text.replace('}', ',}'),
  (_, text) => `${text}//`,
  (_, text) => `${text}${text}`,
  (_, text) => text.replaceAll('"', "'"),
  (rng, text) => insertedAt(text, rng.int(text.length), rng.bytes(1 + rng.int(4))),
  (rng, text) => flipped(Buffer.from(text), rng),
  (_, text) => text.replace(/\d/, 'NaN'),
  (rng) => '['.repeat(rng.pick([17, 1_000, 60_000])),
  (rng) => `[${'0,'.repeat(rng.pick([100, 4_000, 30_000]))}0]`,
  (rng) => '{"a":'.repeat(rng.pick([17, 1_000, 10_000])),
  () => '',
  () => 'null',
  () => '\u0000',
  (rng) => rng.bytes(1 + rng.int(2_000)),
];

/** Returns a damaged body. */
export const wounded = (rng: Rng, text: string): Buffer =>
  Buffer.from(rng.pick(wounds)(rng, text) as Uint8Array);

function insertedAt(text: string, at: number, more: Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
}

/** Returns the bytes with one bit flipped. */
export function flipped(bytes: Buffer, rng: Rng): Buffer {
  if (bytes.length === 0) return bytes;
  const at = rng.int(bytes.length);
  bytes[at]! ^= 1 << rng.int(8);
  return bytes;
}
