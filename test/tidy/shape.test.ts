/** Checks the depth of folders and the minimum size of modules. */
import { dirname } from 'node:path';
import { known, type Source, sources, under } from './sources.js';

const DEEPEST = 3;
const FEWEST_LINES = 120;

const code = sources.filter(({ path }) => !under(path, 'test', 'examples', 'tools/reference'));

test(`folders: have at most ${DEEPEST} levels`, () => {
  const folders = [...new Set(code.map(({ path }) => dirname(path)))];
  const deep = folders.filter((folder) => folder.split('/').length > DEEPEST);
  expect(deep.map((folder) => `${folder}: move its files up`)).toEqual([]);
});

/** Small modules, each with the reason for its size. */
const apart: Record<string, string> = {
  'ui/verify/block.ts': 'a test bundles it without the engine',
  'ui/verify/buffer.ts': 'it defines Buffer, and is evaluated before the engine',
};

/** Modules loaded on demand, by name. */
const loadedByName = new Set(
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\bimport|\bnew URL)\(\s*'([^']+)'/g)].map(([, name]) =>
      sourceOf(path, name!),
    ),
  ),
);

test(`modules: a module with one importer has at least ${FEWEST_LINES} lines`, () => {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const name of imports) {
      const to = name.replace(/^dist\//, '');
      importers.set(to, (importers.get(to) ?? new Set()).add(path));
    }
  }
  const isSmall = ({ path, text }: Source) => {
    const [only, ...others] = importers.get(path) ?? [];
    if (only === undefined || others.length > 0 || dirname(only) !== dirname(path)) return false;
    if (text.split('\n').length - 1 >= FEWEST_LINES || path.endsWith('.d.ts')) return false;
    // A message table is data that has its own file.
    if (path.endsWith('/messages.ts')) return false;
    // An index imports each of its members only once.
    return !only.endsWith('/index.ts') && !loadedByName.has(path) && !Object.hasOwn(apart, path);
  };
  const small = code.filter(isSmall);
  expect(small.map(({ path }) => `${path}: move it into the module that imports it`)).toEqual([]);
});

test('modules: each exception exists', () => {
  expect(Object.keys(apart).filter((path) => !known.has(path))).toEqual([]);
});

function sourceOf(from: string, name: string): string {
  const path = new URL(name, `file:///${from}`).pathname.slice(1).replace(/^dist\//, '');
  return path.replace(/\.js$/, '.ts');
}
