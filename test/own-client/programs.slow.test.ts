/** Programs in documents: each compiles in strict TypeScript, or is an excerpt of a file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/paths.js';
import { document, fenced } from './markdown.js';
import { compiled } from './programs.js';

const documents = ['.', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
const programs = documents.flatMap((path) =>
  ['js', 'ts']
    .flatMap((language) => fenced(document(path), language))
    .map((code) => ({ path, code })),
);

/** Returns the file named in the first line of an excerpt. */
const sourceOf = (code: string) => /^\/\/ (\S+\.ts)\n/.exec(code)?.[1];

/**
 * Documents whose programs are checked elsewhere: `rule check` runs the modules of rules and a load
 * run that of a load file, which have no types, and the traces of monitoring need packages that a
 * checkout does not install.
 */
const untyped = ['rules.md', 'load-testing.md', 'monitoring.md'].map((name) => join('docs', name));

test('documents: programs compile in strict TypeScript', async () => {
  const whole = programs.filter((p) => sourceOf(p.code) === undefined && !untyped.includes(p.path));
  expect(whole.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'docs/embedding.md', 'docs/simulating.md']),
  );
  const { problems } = await compiled(whole.map(({ code }) => code));
  expect(problems).toBe('');
});

test('documents: an excerpt is part of the named file', () => {
  const excerpts = programs.filter(({ code }) => sourceOf(code) !== undefined);
  expect(excerpts.length).toBeGreaterThan(0);
  for (const { path, code } of excerpts) {
    const source = readFileSync(join(root, sourceOf(code)!), 'utf8');
    expect(source, path).toContain(code.slice(code.indexOf('\n') + 1).trim());
  }
});
