/** Programs of the tests that run in a process of their own: bundled, beside the built package. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './paths.js';

/** Bundles `entry`, a path inside the repository, into a new folder: gives the program's path. */
export async function bundledChild(entry: string, folder: string): Promise<string> {
  mkdirSync(folder);
  // Whoever imports the package by its name finds it as if from inside.
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(folder, name));
  const outfile = join(folder, basename(entry).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}
