/** A copy of the built package with one line changed, as a bug for the swarm to find. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../support/fixture.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the command line of the copy. @param file path in dist. */
export function mutant(file: string, from: string, to: string): string {
  const folder = temporaryFolder();
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'dist', file);
  const text = readFileSync(path, 'utf8');
  expect(text.split(from), `${from} in ${file}`).toHaveLength(2);
  writeFileSync(path, text.replace(from, to));
  return join(folder, 'dist/cli/main.js');
}
