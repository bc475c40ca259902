/** Compares the reference and the schema of configuration files with the options. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configCommands } from '../../../dist/cli/commands/config.js';
import { configJsonSchema } from '../../../dist/cli/options/config.js';
import { root } from '../../support/paths.js';

const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
const advice = 'out of date; run npm run docs';

test('docs/config.schema.json: equals the schema of the options', async () => {
  const file = JSON.parse(readFileSync(join(root, 'docs/config.schema.json'), 'utf8')) as unknown;
  const schema = configJsonSchema(await configCommands());
  expect(file, advice).toEqual(JSON.parse(JSON.stringify(schema)));
});

test('docs/configuration.md: equals the generated page, with a valid example', () => {
  const writer = join(root, 'tools/config-page.mjs');
  const written = execFileSync(process.execPath, [writer, '--print'], { encoding: 'utf8' });
  expect(page === written, advice).toBe(true);
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(Object.keys(parse(example) as object)).toEqual(['serve', 'load']);
});
