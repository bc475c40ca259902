/** Bundles test programs that run in a separate process with the built package. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './paths.js';

/** Bundles `entry`, a path in the repository, into a folder. Returns the program path. */
export async function bundledChild(entry: string, folder: string): Promise<string> {
  mkdirSync(folder);
  // The package can import itself by name.
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(folder, name));
  const outfile = join(folder, basename(entry).replace(/\.ts$/, '.mjs'));
  await build({
    ...{ entryPoints: [join(root, entry)], outfile, bundle: true, platform: 'node', format: 'esm' },
    ...{ packages: 'external', logLevel: 'error' },
  });
  return outfile;
}
