/** Every schema is one: the program takes that for granted when it compiles them. */
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { DebugVerifyBody } from '../../../dist/api/contract/answers.js';
import { clientMessages } from '../../../dist/api/contract/channels.js';
import { LoadResult } from '../../../dist/bench/load/result.js';
import * as engine from '../../../dist/engine/internal.js';

const formats = { 'date-time': true, duration: true } as const;
const ajv = new Ajv({ strict: true, validateSchema: true, formats });

const isSchema = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && '~kind' in value;

const schemas = Object.entries({ ...engine, ...clientMessages, DebugVerifyBody, LoadResult });
const named = schemas.filter(([, value]) => isSchema(value)) as [string, object][];

test('schemas: there are as many as are exported', () => {
  expect(named.length).toBeGreaterThan(60);
});

test.each(named)('schemas: %s is one, of the dialect in which it is compiled', (_, schema) => {
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  expect(ajv.compile(schema)).toBeTypeOf('function');
});
