/** The tables of Unicode: one version, whatever the Node; drift of the generated file is found. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isTag, lowerCase, UNICODE_VERSION } from '../../../../dist/engine/protocol/unicode.js';
import { nodes } from '../../../support/runner/nodes.js';

const writer = fileURLToPath(new URL('../../../../tools/unicode-tables.mjs', import.meta.url));
const written = new URL('../../../../engine/protocol/unicode-tables.ts', import.meta.url);
const own = fileURLToPath(new URL('../../../../dist/engine/protocol/unicode.js', import.meta.url));
const run = (node: string, ...args: string[]) =>
  execFileSync(node, args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
const unicodeOf = (node: string) => run(node, '-p', 'process.versions.unicode').trim();

/** Code points, surrogates left out. */
function* points(): Iterable<number> {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point < 0xd800 || point > 0xdfff) yield point;
  }
}

test('unicode: where this Node differs, its tables are newer and only add', () => {
  const added: number[] = [];
  const moved: number[] = [];
  for (const point of points()) {
    const character = String.fromCodePoint(point);
    const theirs = /^[\p{L}\p{M}\p{N}_-]$/u.test(character);
    if (theirs !== isTag(character)) {
      expect(theirs, `U+${point.toString(16)} is in the tables only`).toBe(true);
      added.push(point);
    }
    const simple = String.fromCodePoint(character.toLowerCase().codePointAt(0)!);
    if (simple !== lowerCase(character)) moved.push(point);
  }
  // What differs was not assigned, so it is added: a version never takes a letter away.
  expect(moved.filter((point) => !added.includes(point))).toEqual([]);
  // How many characters of tags each version added.
  const sizes: Record<string, number> = { [UNICODE_VERSION]: 0, '17.0': 4_699 };
  const size = sizes[String(process.versions.unicode)];
  if (size !== undefined) expect(added).toHaveLength(size);
});

test('unicode: a character of a later version is none of a tag, on every Node', () => {
  for (const text of ['\u{1ad5}', 'a\u{1ad5}', '\u{16ea0}']) expect(isTag(text)).toBe(false);
});

test('unicode: lower case is simple: no context, no language, no longer text', () => {
  expect(lowerCase('ΣΟΦΟΣ')).toBe('σοφοσ');
  expect(lowerCase('İ'.repeat(32))).toBe('i'.repeat(32));
  expect(lowerCase('ẞA')).toBe('ßa');
  expect(lowerCase('𐐀𞤀Ꭰ')).toBe('𐐨𞤢ꭰ');
});

const same = nodes.filter((node) => unicodeOf(node) === UNICODE_VERSION);
const shown = same.length > 0 ? same : [`none of Unicode ${UNICODE_VERSION} in FOLKMOOT_NODES`];

describe.skipIf(same.length === 0).each(shown)('unicode: %s', (node) => {
  test('unicode: it writes the tables that are in the tree', () => {
    expect(run(node, writer, '--print')).toBe(readFileSync(written, 'utf8'));
  });
});

describe.each(nodes)('%s', (node) => {
  test('unicode: it knows the same tags and the same lower case', () => {
    const script = `import { isTag, lowerCase } from ${JSON.stringify(own)};
      import { createHash } from 'node:crypto';
      const hash = createHash('sha256');
      for (let point = 0; point <= 0x10ffff; point += 1) {
        if (point >= 0xd800 && point <= 0xdfff) continue;
        const character = String.fromCodePoint(point);
        hash.update(isTag(character) + lowerCase(character));
      }
      process.stdout.write(hash.digest('hex'));`;
    const of = (by: string) => run(by, '--input-type=module', '-e', script);
    expect(of(node)).toBe(of(process.execPath));
  });
});
