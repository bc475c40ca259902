/** Checks the file lists of common changes in CONTRIBUTING.md against their examples. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, sources } from './sources.js';

const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const shipped = sources.filter(({ path }) => !/^(test|tools|examples)\//.test(path));

interface Change {
  title: string;
  /** Texts that occur in every file of the change. */
  examples: string[];
  /** Listed files, and folders with a trailing slash. */
  listed: string[];
}

const changes = text
  .split(/^## /m)
  .filter((section) => section.startsWith('Add '))
  .map((section): Change => {
    const codeIn = (line: string) => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
    const example = /^Examples?: .*$/m.exec(section)?.[0] ?? '';
    const rows = section.split('\n').filter((line) => /^\| [`A-Z]/.test(line));
    const listed = rows.flatMap((row) => codeIn(row.split('|')[1]!));
    return { title: section.split('\n', 1)[0]!, examples: codeIn(example), listed };
  });

const isWord = /^\w+$/;
const names = (source: string, example: string) =>
  isWord.test(example) ? new RegExp(`\\b${example}\\b`).test(source) : source.includes(example);

/** Changes with an example. Other changes involve names that many unrelated files use. */
const followed = changes.filter(({ examples }) => examples.length > 0);

test('CONTRIBUTING.md: shows at least ten kinds of change by an example', () => {
  expect(followed.length).toBeGreaterThanOrEqual(10);
});

test.each(changes)('CONTRIBUTING.md: $title, lists files that exist', ({ listed }) => {
  expect(listed).not.toEqual([]);
  expect(listed.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe.each(followed)('CONTRIBUTING.md: $title', ({ examples, listed }) => {
  test('lists every file that names the example', () => {
    // Bench cases use the code that they measure. Only a change to bench lists these cases.
    const known = [...listed, ...(listed.some((o) => o.startsWith('bench/')) ? [] : ['bench/'])];
    const covers = (path: string) =>
      known.some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));
    const missed = shipped
      .filter((source) => examples.some((example) => names(source.text, example)))
      .map(({ path }) => path)
      .filter((path) => !covers(path));
    expect(missed).toEqual([]);
  });

  test('lists only files that name the example', () => {
    const needless = shipped
      .filter(({ path }) => listed.includes(path))
      .filter((source) => !examples.some((example) => names(source.text, example)))
      .map(({ path }) => path);
    expect(needless).toEqual([]);
  });
});
