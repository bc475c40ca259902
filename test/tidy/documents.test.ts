/** Checks that files, folders and links in documents exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from './sources.js';

/** Generated folders, not in the repository. */
const made = /^(node_modules|dist|reference|runs|\.git)$/;
const top = readdirSync(root, { withFileTypes: true }).filter(({ name }) => !made.test(name));
const folders = top.filter((entry) => entry.isDirectory()).map(({ name }) => name);

const documents = [
  ...top.filter(({ name }) => name.endsWith('.md')).map(({ name }) => name),
  ...['docs', 'docs/decisions', 'examples', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/**
 * Returns the paths in code spans that start with a repository folder and contain no placeholder.
 */
function named(text: string): string[] {
  const spans = text.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g);
  return [...spans]
    .flatMap(([, span]) => span!.split(/\s+/))
    .filter((word) => /^[\w.@-]+(\/[\w.@-]+)*\/?$/.test(word) && word.includes('/'))
    .filter((word) => folders.includes(word.split('/')[0]!));
}

/** Documents that list files. */
const guides = documents.filter((path) =>
  /^(CONTRIBUTING|docs\/(glossary|decisions\/))/.test(path),
);

test.each(guides)('documents: every path in %s exists', (path) => {
  const missing = named(textOf(path)).filter((name) => !existsSync(join(root, name)));
  expect(missing).toEqual([]);
});

test('documents: the guides exist and contain paths', () => {
  expect(guides).toEqual(expect.arrayContaining(['CONTRIBUTING.md', 'docs/glossary.md']));
  const places = guides.flatMap((path) => named(textOf(path)));
  expect(places.length).toBeGreaterThan(100);
  expect(named('`engine/core/engine.ts`, `npm test` and `engine/ gone.ts`')).toEqual([
    'engine/core/engine.ts',
    'engine/',
  ]);
});

test.each(documents)('documents: every link in %s exists', (path) => {
  const links = [...textOf(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const here = links.filter((link) => !/^(https?:|mailto:|#)/.test(link));
  const missing = here.filter((link) => {
    const target = normalize(join(dirname(path), link.split('#')[0]!));
    return !existsSync(join(root, target));
  });
  expect(missing).toEqual([]);
});

/** Returns the anchors of a document's headings by GitHub's rule, as in tools/site/config.mjs. */
function anchorsOf(text: string): Set<string> {
  const found = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!));
  for (const [, heading] of text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ +(.+)$/gm)) {
    const words = heading!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    let anchor = slug;
    for (let count = 1; found.has(anchor); count += 1) anchor = `${slug}-${count}`;
    found.add(anchor);
  }
  return found;
}

test.each(documents)('documents: every anchor in the links of %s exists', (path) => {
  const links = [...textOf(path).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)];
  const missing = links.flatMap(([, file, anchor]) => {
    if (/^https?:/.test(file!)) return [];
    const target = file === '' ? path : normalize(join(dirname(path), file!));
    if (!target.endsWith('.md')) return [];
    return anchorsOf(textOf(target)).has(anchor!) ? [] : `${file}#${anchor}`;
  });
  expect(missing).toEqual([]);
});

test('documents: docs/decisions/README.md lists each decision', () => {
  const decisions = documents.filter((path) => /^docs\/decisions\/\d/.test(path));
  expect(decisions.length).toBeGreaterThan(15);
  const list = textOf('docs/decisions/README.md');
  for (const path of decisions) {
    expect(list.split(path.replace(/.*\//, '')).length, path).toBe(2);
  }
});
