/** All schemas are valid JSON Schema, which compilation does not check. */
import { Ajv } from 'ajv';

import { clientMessages } from '../../../dist/api/contract/channels.js';
import { DebugVerifyBody } from '../../../dist/api/contract/server.js';
import { LoadResult } from '../../../dist/bench/load/result.js';
import * as command from '../../../dist/engine/protocol/schema/command.js';
import * as entry from '../../../dist/engine/protocol/schema/entry.js';
import * as event from '../../../dist/engine/protocol/schema/event.js';
import * as genesis from '../../../dist/engine/protocol/schema/genesis.js';
import * as primitives from '../../../dist/engine/protocol/schema/primitives.js';
import * as record from '../../../dist/engine/protocol/schema/record.js';
import * as request from '../../../dist/engine/protocol/schema/request.js';
import * as view from '../../../dist/engine/protocol/schema/view.js';

const formats = { 'date-time': true, duration: true } as const;
const ajv = new Ajv({ strict: true, validateSchema: true, formats });

const isSchema = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && '~kind' in value;

const protocol = {
  ...command,
  ...entry,
  ...event,
  ...genesis,
  ...primitives,
  ...record,
  ...request,
  ...view,
};
const schemas = Object.entries({ ...protocol, ...clientMessages, DebugVerifyBody, LoadResult });
const named = schemas.filter(([, value]) => isSchema(value)) as [string, object][];

test('schemas: more than 60 schemas are exported', () => {
  expect(named.length).toBeGreaterThan(60);
});

test.each(named)('schemas: %s is valid in its dialect', (_, schema) => {
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  expect(ajv.compile(schema)).toBeTypeOf('function');
});
