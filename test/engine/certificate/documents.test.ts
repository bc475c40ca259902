/** docs/certificate.schema.json is what the code says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certificateJsonSchema } from '../../../dist/engine/certificate/format.js';
import { root } from '../../support/paths.js';

test('docs/certificate.schema.json: is what the code says', () => {
  const file = readFileSync(join(root, 'docs/certificate.schema.json'), 'utf8');
  expect(JSON.parse(file)).toEqual(certificateJsonSchema());
});
