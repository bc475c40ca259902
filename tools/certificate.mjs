// Writes docs/certificate.schema.json from what was built: `npm run build` comes first.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { certificateJsonSchema } from '../dist/engine/certificate/schema.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const file = 'docs/certificate.schema.json';
writeFileSync(root + file, `${JSON.stringify(certificateJsonSchema(), null, 2)}\n`);
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
const args = [biome, 'format', '--write', file];
execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
