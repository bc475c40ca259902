/** Rejects words and comment openings that hide the actor, with advice. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, sources } from './sources.js';

const name = 'name the role: client, operator, agent, node, caller';

/** Words that hide the actor or the thing, with advice on replacements. */
const advice: Readonly<Record<string, string>> = {
  whoever: name,
  whosoever: name,
  somebody: name,
  nobody: `${name}; "no client", "no agent"`,
  anybody: `${name}; "any client"`,
  whatever: 'write "any X" or "independent of X"',
  whichever: 'write "the first X that" or "either"',
  'over there': 'name the place',
  'of theirs': 'name the owner',
};
/** A quoted word alone is data, such as the name of an agent. */
const words = new RegExp(`(?<!['"])\\b(?:${Object.keys(advice).join('|')})\\b(?!['"])`, 'giu');

/** A comment begins with a verb or a noun. */
const opening = /^\s*(?:\/\*\*?|\/\/)\s*(?:What|Who|Whoever|Whose|Whether|How)\b/u;

const self = 'test/tidy/words.test.ts';
const code = sources.filter(({ path }) => path !== self);

const documents = ['', 'docs', 'docs/decisions', 'examples', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
);

const linesWith = (
  files: readonly { path: string; text: string }[],
  find: (line: string, before: string) => string[],
) =>
  files.flatMap(({ path, text }) => {
    const lines = text.split('\n');
    return lines.flatMap((line, index) =>
      find(line, lines[index - 1] ?? '').map((hint) => `${path}:${index + 1}: ${hint}`),
    );
  });

test('words: sources and documents use none of the refused words', () => {
  const found = linesWith([...code, ...documents], (line) =>
    [...line.matchAll(words)].map(([word]) => `${word}: ${advice[word.toLowerCase()]}`),
  );
  expect(found).toEqual([]);
});

test('words: comments begin with a verb or a noun', () => {
  const found = linesWith(code, (line, before) => {
    // Checks the first line of a comment. A block comment's text may begin one line later.
    const isFirst = opening.test(line) && !/^\s*\/\//.test(before);
    const isSecond = /^\s*\/\*\*$/.test(before) && /^\s*\* (?:What|Who|Whether|How)\b/.test(line);
    return isFirst || isSecond ? ['begin with a verb or a noun'] : [];
  });
  expect(found).toEqual([]);
});

/** Messages of the tables in a file, with their keys. */
function messagesIn(text: string): { key: string; message: string }[] {
  if (!/Message(?:Table|Groups)|define(?:Failures|StoreErrors)/u.test(text)) return [];
  const rows = text.matchAll(
    /^ {2,4}([A-Z][A-Z0-9_]+):\s+(?:'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`),$/gmu,
  );
  return [...rows].map(([, key, ...texts]) => ({ key: key!, message: texts.find(Boolean)! }));
}

test('messages: a text is lower case without a period, and some code uses its row', () => {
  const tables = code.filter(({ path }) => !/^(?:test|examples|tools)\//u.test(path));
  const uses = new Set<string>();
  for (const { text } of tables) {
    for (const [, key] of text.matchAll(/'([A-Z][A-Z0-9_]+)'/gu)) {
      uses.add(key!);
    }
  }
  const found = tables.flatMap(({ path, text }) =>
    messagesIn(text).flatMap(({ key, message }) => [
      ...(uses.has(key) || /^E[A-Z]+(?:_[A-Z]+)?$/u.test(key)
        ? []
        : [`${path}: no code uses ${key}`]),
      ...message
        .split(/;\s+/)
        .filter((part) => /^[A-Z][a-z]+ |\.$/u.test(part))
        .map((part) => `${path}: ${key}: begin in lower case, and omit the period: ${part}`),
    ]),
  );
  expect(tables.flatMap(({ text }) => messagesIn(text)).length).toBeGreaterThan(400);
  expect(found).toEqual([]);
});
