// Writes docs/scenario.schema.json and docs/scenarios.md from what was built.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { scenarioJsonSchema, scenarioReference } from '../dist/sim/index.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const schema = 'docs/scenario.schema.json';
writeFileSync(root + schema, `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`);
writeFileSync(`${root}docs/scenarios.md`, scenarioReference());
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const args = [biome, 'format', '--write', schema];
execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
