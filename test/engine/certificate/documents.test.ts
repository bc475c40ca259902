import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certificateJsonSchema } from '../../../dist/engine/certificate/format.js';
import { root } from '../../support/paths.js';

test('docs/certificate.schema.json: matches the code', () => {
  const file = readFileSync(join(root, 'docs/certificate.schema.json'), 'utf8');
  expect(JSON.parse(file)).toEqual(certificateJsonSchema());
});
