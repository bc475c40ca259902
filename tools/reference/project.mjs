/**
 * The public API for TypeDoc, with one module per entry in `exports`. This is a separate workspace,
 * because TypeDoc needs the TypeScript 6 API in addition to the compiler that the build uses. As a
 * program, writes the reference as HTML to `reference/`, which git ignores. With `--json FILE`,
 * writes JSON for the docstring tests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Application } from 'typedoc';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Maps the import name of an entry to its source. */
function entries() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const typed = Object.entries(exports).filter(([, target]) => typeof target === 'object');
  return typed.map(([path, { default: built }]) => ({
    name: path.replace(/^\./, name),
    source: built.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts'),
  }));
}

/**
 * Converts all entries. Each module gets its import name.
 * @param {import('typedoc').TypeDocOptions} options further options.
 */
export async function convert(options = {}) {
  const all = entries();
  const app = await Application.bootstrap({
    name: 'folkmoot',
    entryPoints: all.map(({ source }) => join(root, source)),
    tsconfig: join(root, 'tsconfig.json'),
    basePath: root,
    // The build already checks the types.
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
  // TypeDoc names modules by path, and sorts them.
  const named = new Map(
    all.map(({ name, source }) => [source.replace(/(\/index)?\.ts$/, ''), name]),
  );
  for (const module of project.children ?? []) module.name = named.get(module.name) ?? module.name;
  return { app, project };
}

async function write() {
  const { values } = parseArgs({ options: { json: { type: 'string' } } });
  const { app, project } = await convert({ readme: values.json ? 'none' : `${root}README.md` });
  app.validate(project);
  if (values.json) await app.generateJson(project, values.json);
  else await app.generateDocs(project, `${root}reference`);
  if (app.logger.hasErrors()) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await write();
