/**
 * Writes the API and scenario documents, and the schemas of scenarios, deciders and certificates,
 * to docs/. Requires `npm run build`.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { asyncapiDocument, openapiDocument } from '../dist/api/documents/documents.js';
import { certificateJsonSchema } from '../dist/engine/certificate/format.js';
import { deciderSchema } from '../dist/sim/agents/deciders/question.js';
import { scenarioJsonSchema, scenarioReference } from '../dist/sim/index.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const documents = {
  'docs/openapi.json': openapiDocument(),
  'docs/asyncapi.json': asyncapiDocument(),
  'docs/scenario.schema.json': scenarioJsonSchema(),
  'docs/deciders.schema.json': deciderSchema(),
  'docs/certificate.schema.json': certificateJsonSchema(),
};
for (const [path, document] of Object.entries(documents)) {
  writeFileSync(root + path, `${JSON.stringify(document, null, 2)}\n`);
}
writeFileSync(`${root}docs/scenarios.md`, scenarioReference());
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const args = [biome, 'format', '--write', ...Object.keys(documents)];
execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
