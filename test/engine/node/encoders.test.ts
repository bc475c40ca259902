/** The generated encoders, compared with the general ones, for random values of each schema. */
import { canonical } from 'folkmoot';
import {
  answerEncoders,
  eventEncoders,
  recordEncoders,
} from '../../../dist/engine/node/bundled/encoders.js';
import { eventShapes } from '../../../dist/engine/protocol/schema/event.js';
import { records } from '../../../dist/engine/protocol/schema/record.js';
import { answers } from '../../../dist/engine/protocol/schema/view.js';
import { counts } from '../../support/counts.js';
import { fc, forAll } from '../../support/property.js';

interface Schema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: readonly string[] | undefined;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
}

type Encoders = Record<string, (value: never) => string>;
type Schemas = Record<string, Schema>;

/** Texts of any UTF-16 units, with escapes, control characters and lone surrogates. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.integer({ max: 0xffff, min: 0 }), { maxLength: 40 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('"', '\\', '\n', '\u007f', '\u2028', '\ud800', 'x\udfff', '\ud83d\ude00', ''),
  fc.string({ maxLength: 80 }),
);
const integers = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 2 ** 31, 2 ** 53, 1e20, 1e21, -1e300),
);
const names = fc.constantFrom('__proto__', '0', '17', 'Z', 'at', 'a', 'zz', 'toJSON', '"', 'é');
const others = fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== 'string');

/** Values of a schema. Optional members may be absent or undefined, and others may be added. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.type === 'string') return texts;
  if (schema.type === 'integer') return integers;
  if (schema.type === 'number') return fc.double({ noDefaultInfinity: true, noNaN: true });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') {
    const { items = {}, minItems: minLength = 0, maxItems: maxLength = 6 } = schema;
    return fc.array(valuesOf(items), { maxLength, minLength });
  }
  if (!schema.properties) return schema.type === 'object' ? maps : fc.jsonValue({ maxDepth: 3 });
  return objectsOf(schema.properties, schema.required ?? []);
}

const maps = fc.dictionary(texts, integers, { maxKeys: 4 });

function objectsOf(properties: Record<string, Schema>, required: readonly string[]) {
  const members = Object.entries(properties).map(([name, one]) => {
    const present = valuesOf(one).map((value): [string, unknown][] => [[name, value]]);
    if (required.includes(name)) return present;
    return fc.oneof(present, fc.constantFrom<[string, unknown][]>([], [[name, undefined]]));
  });
  const additional = fc.oneof(
    { arbitrary: fc.constant([]), weight: 9 },
    { arbitrary: fc.array(fc.tuple(names, fc.jsonValue()), { maxLength: 2 }), weight: 1 },
  );
  const all = fc.tuple(...members, additional).map((lists) => lists.flat());
  const orders = fc.oneof(
    all,
    all.chain((list) => fc.shuffledSubarray(list, { minLength: list.length })),
  );
  return orders.map((list) => Object.fromEntries(list));
}

/** Values in which one member of a schema's value, or the value itself, has another type. */
const mistakenOf = (schema: Schema) =>
  fc.tuple(valuesOf(schema), others, fc.nat()).map(([value, other, which]) => {
    if (typeof value !== 'object' || value === null || which % 7 === 0) return other;
    const keys = Object.keys(value);
    return { ...value, [keys[which % Math.max(1, keys.length)] ?? 'none']: other };
  });

function compare(encode: (value: never) => string, schema: Schema, general: typeof canonical) {
  const values = fc.oneof(
    { arbitrary: valuesOf(schema), weight: 4 },
    { arbitrary: mistakenOf(schema), weight: 1 },
  );
  forAll([values], { numRuns: counts.encodedValues }, (value) => {
    const expected = general(value);
    const found = encode(value as never);
    if (found !== expected) expect(found).toBe(expected);
  });
}

const sorted = { ...eventEncoders, ...recordEncoders } as Encoders;
const schemasOfSorted = { ...eventShapes, ...records } as Schemas;

test.each(Object.keys(sorted))('encoders: %s equals canonical JSON', (name) => {
  compare(sorted[name]!, schemasOfSorted[name]!, canonical);
});

test.each(Object.keys(answerEncoders))('encoders: answer to %s equals JSON.stringify', (name) => {
  compare((answerEncoders as Encoders)[name]!, (answers as Schemas)[name]!, JSON.stringify);
});

test('encoders: only the record without members is encoded in the general way', () => {
  const general = Object.keys(sorted).filter((name) => String(sorted[name]) === String(canonical));
  expect(general).toEqual(['open']);
});
