/** Keeps `npm test` short and whole: each file of tests is fast or slow, and says which. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import config from '../../vitest.config.js';
import { nodes } from '../support/runner/nodes.js';
import { longest } from '../support/runner/sequence.js';
import { root, type Source, sources, under } from './sources.js';

const tests = sources.filter(({ path }) => under(path, 'test'));

test('tests: each file of tests is in exactly one of the projects fast and slow', () => {
  const projects = config.test?.projects?.map((project) => {
    const { name, include, exclude } = (project as { test: Record<string, unknown> }).test;
    return { name, include, exclude };
  });
  const [slow, otherNodes] = ['test/**/*.slow.test.ts', 'test/**/*.nodes.test.ts'];
  const fast = { name: 'fast', include: ['test/**/*.test.ts'], exclude: [slow, otherNodes] };
  expect(projects?.slice(0, 2)).toEqual([
    fast,
    { name: 'slow', include: [slow], exclude: undefined },
  ]);
  const more = nodes.map(() => ({ name: 'nodes', include: [otherNodes], exclude: undefined }));
  expect(projects?.slice(2)).toEqual(more.slice(0, 1));
  const missed = tests.filter(
    ({ path }) => /[._-](?:test|spec)\.\w+$/.test(path) && !path.endsWith('.test.ts'),
  );
  expect(missed.map(({ path }) => `${path}: no project runs it`)).toEqual([]);
});

test('tests: npm test runs the fast ones, test:slow the slow ones, the gate both', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(scripts.test).toMatch(/vitest run --project fast$/);
  expect(scripts['test:slow']).toMatch(/vitest run --project slow$/);
  expect(scripts['test:full']).toMatch(/bash test\/full\.sh$/);
  expect(readFileSync(join(root, 'test/full.sh'), 'utf8')).toMatch(/vitest run "\$@"$/m);
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^npm test\nnpm run test:slow$/m);
});

test('tests: what begins first, because it takes longest, is there', () => {
  const there = new Set(tests.map(({ path }) => path));
  const gone = longest.filter((name) => !there.has(`test/${name}.slow.test.ts`));
  expect(gone.map((name) => `${name}: leave it out of test/support/runner/sequence.ts`)).toEqual(
    [],
  );
});

test('tests: none has a limit of time of its own', () => {
  const own = /^\s*\}, [\d_]{4,}\);$|^test.*timeout: [\d_]/m;
  const found = tests.filter(({ path, text }) => path.endsWith('.test.ts') && own.test(text));
  expect(found.map(({ path }) => `${path}: vitest.config.ts ends what hangs`)).toEqual([]);
});

/** What starts a program or a browser. */
const starts = ['node:child_process', 'playwright-core'];

/** Fast although they start one: they compare a document with its generator, in a second. */
const generators = [
  'test/sim/measures-document.test.ts',
  'test/sim/scripts/reference.test.ts',
  'test/engine/protocol/unicode/tables.test.ts',
];

test('tests: one that is fast starts no program and no browser', () => {
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
