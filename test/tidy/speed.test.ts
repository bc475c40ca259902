/** Keeps `npm test` fast and complete: fast tests start no programs, and every file runs. */
import { gate, longest } from '../support/runner/files.js';
import { type Source, sources, under } from './sources.js';

const tests = sources.filter(({ path }) => under(path, 'test'));

test('tests: each test file belongs to a project', () => {
  const missed = tests.filter(
    ({ path }) => /[._-](?:test|spec)\.\w+$/.test(path) && !path.endsWith('.test.ts'),
  );
  expect(missed.map(({ path }) => `${path}: name it .test.ts`)).toEqual([]);
});

test('tests: each file listed in test/support/runner/files.ts exists', () => {
  const there = new Set(tests.map(({ path }) => path));
  const gone = [...gate, ...longest].filter((name) => !there.has(`test/${name}.slow.test.ts`));
  expect(gone.map((name) => `${name}: leave it out of test/support/runner/files.ts`)).toEqual([]);
});

/** Modules that start a program or a browser. */
const starts = ['node:child_process', 'playwright-core'];

/** Exceptions. Each compares a document with its generator in about a second. */
const generators = [
  'test/documents/generated.test.ts',
  'test/engine/protocol/unicode/tables.test.ts',
];

test('tests: a fast test starts no program and no browser', () => {
  const byPath = new Map(tests.map((source) => [source.path, source]));
  const way = (source: Source, seen: Set<string>): string[] | null => {
    if (seen.has(source.path)) return null;
    seen.add(source.path);
    if (source.imports.some((name) => starts.includes(name))) return [source.path];
    for (const name of source.imports) {
      const next = byPath.get(name);
      const found = next && way(next, seen);
      if (found) return [source.path, ...found];
    }
    return null;
  };
  const found = tests
    .filter(({ path }) => path.endsWith('.test.ts') && !/\.(?:slow|nodes)\.test\.ts$/.test(path))
    .filter(({ path }) => !generators.includes(path))
    .flatMap((source) => way(source, new Set())?.join(' -> ') ?? []);
  expect(found.map((path) => `${path}: name it .slow.test.ts`)).toEqual([]);
});
