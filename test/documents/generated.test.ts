/** The generated pages and schemas in docs/ match the code. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../support/paths.js';

test('docs: no generated file is out of date; npm run docs writes them', () => {
  const args = [join(root, 'tools/documents.mjs'), '--check'];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('');
});
