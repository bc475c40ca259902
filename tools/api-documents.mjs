// Writes docs/openapi.json and docs/asyncapi.json from what was built: `npm run build` comes first.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { asyncapiDocument, openapiDocument } from '../dist/api/documents/documents.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const documents = {
  'docs/openapi.json': openapiDocument(),
  'docs/asyncapi.json': asyncapiDocument(),
};
for (const [path, document] of Object.entries(documents)) {
  writeFileSync(root + path, `${JSON.stringify(document, null, 2)}\n`);
}
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const args = [biome, 'format', '--write', ...Object.keys(documents)];
execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
