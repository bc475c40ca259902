// Writes docs/scenarios.md, and the schemas of scenarios and deciders, from what was built.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { deciderSchema } from '../dist/sim/agents/deciders/schema.js';
import { scenarioJsonSchema, scenarioReference } from '../dist/sim/index.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const schemas = {
  'docs/scenario.schema.json': scenarioJsonSchema(),
  'docs/deciders.schema.json': deciderSchema(),
};
for (const [path, schema] of Object.entries(schemas)) {
  writeFileSync(root + path, `${JSON.stringify(schema, null, 2)}\n`);
}
writeFileSync(`${root}docs/scenarios.md`, scenarioReference());
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const args = [biome, 'format', '--write', ...Object.keys(schemas)];
execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
