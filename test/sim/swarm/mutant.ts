/** A copy of the built package with lines changed, as a bug for the swarm to find. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../support/fixture.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A file in dist, the text that it contains once, and the text instead. */
export type Edit = readonly [file: string, find: string, becomes: string];

/** Returns the command line of the copy. */
export function mutant(...edits: readonly Edit[]): string {
  const folder = temporaryFolder();
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, find, becomes] of edits) {
    const path = join(folder, 'dist', file);
    const text = readFileSync(path, 'utf8');
    expect(text.split(find), `${find} in ${file}`).toHaveLength(2);
    writeFileSync(
      path,
      text.replace(find, () => becomes),
    );
  }
  return join(folder, 'dist/cli/main.js');
}
