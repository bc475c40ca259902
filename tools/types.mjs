/**
 * Writes dist/types: the types of the package's entries, with all types that they use. The package
 * contains no other types, so it needs neither typebox nor the types of each file. Keeps the last
 * result in .build/types while no declaration changes.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const root = fileURLToPath(new URL('..', import.meta.url));
const [dist, kept] = [join(root, 'dist'), join(root, '.build/types')];
const { exports, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Declarations of the entries, by their names in dist/types. */
const entries = Object.fromEntries(
  Object.values(exports)
    .filter((target) => typeof target === 'object')
    .map(({ types, default: program }) => [
      types.replace('./dist/types/', '').replace(/\.d\.ts$/, ''),
      join(root, program.replace(/\.js$/, '.d.ts')),
    ]),
);

function hashDeclarations() {
  const hash = createHash('sha256');
  const files = readdirSync(dist, { recursive: true }).filter(
    (file) => file.endsWith('.d.ts') && !file.startsWith('types'),
  );
  for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(join(dist, file)));
  return hash.update(readFileSync(fileURLToPath(import.meta.url))).digest('hex');
}

/**
 * Replaces what the bundler mistakes in the types of typebox: namespaces of types, and the type
 * Record beside a function of that name.
 */
const plainTypebox = {
  name: 'typebox',
  transform(text, id) {
    if (!/typebox.*\.d\.mts$/.test(id)) return null;
    const types = ['TResult', 'TExtendsUnion', 'TExtendsTrue', 'TExtendsFalse', 'TExtendsTrueLike'];
    const names = types.map((type) => `${type} as Result_${type}`).join(', ');
    return text
      .replace('import * as Result from', `import type { ${names} } from`)
      .replace(
        /import \{ type TExtends, ExtendsResult \} from (['"])(.*\/)index\.mjs/,
        `import type { ${names} } from $1$2result.mjs$1; import { TExtends } from $1$2index.mjs`,
      )
      .replace(/\b(?:Extends)?Result\.(?=T)/g, 'Result_')
      .replace(/Record<(PropertyKey|StaticKey), (\w+)>/g, '{ [Key in $1]: $2 }');
  },
};

async function bundleTypes() {
  const bundle = await rollup({
    input: entries,
    external: (id) => id.startsWith('node:'),
    plugins: [
      { name: 'imports', resolveId: (id) => imports[id]?.types && join(root, imports[id].types) },
      plainTypebox,
      dts({ respectExternal: true }),
    ],
    // The plugin names each private type that a public type refers to.
    onwarn: (warning) => {
      if (warning.code !== 'PLUGIN_WARNING') throw new Error(warning.message);
    },
  });
  await bundle.write({
    dir: kept,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared/[name].ts',
  });
}

const hash = hashDeclarations();
const mark = join(kept, 'hash');
if (!existsSync(mark) || readFileSync(mark, 'utf8') !== hash) {
  rmSync(kept, { recursive: true, force: true });
  await bundleTypes();
  writeFileSync(mark, hash);
}
cpSync(kept, join(dist, 'types'), { recursive: true, filter: (path) => path !== mark });
