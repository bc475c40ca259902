/**
 * The package's public face as TypeDoc reads it: a module for each entry of `exports`. A workspace
 * of its own, because TypeDoc needs the API of TypeScript 6 beside the compiler that builds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Name of an entry, as it is imported, to its source. */
function entries() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const typed = Object.entries(exports).filter(([, target]) => typeof target === 'object');
  return typed.map(([path, { types }]) => ({
    name: path.replace(/^\./, name),
    source: types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts'),
  }));
}

/**
 * Converts all entries; a module has the name that it is imported by.
 * @param {import('typedoc').TypeDocOptions} options beside those that say what is public.
 */
export async function convert(options = {}) {
  const all = entries();
  const app = await Application.bootstrap({
    name: 'folkmoot',
    entryPoints: all.map(({ source }) => join(root, source)),
    tsconfig: join(root, 'tsconfig.json'),
    basePath: root,
    // The build has checked them.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    ...options,
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the entry points');
  // TypeDoc names a module by its path and sorts them.
  const named = new Map(
    all.map(({ name, source }) => [source.replace(/(\/index)?\.ts$/, ''), name]),
  );
  for (const module of project.children ?? []) module.name = named.get(module.name) ?? module.name;
  return { app, project };
}
