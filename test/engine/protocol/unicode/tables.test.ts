/** The Unicode tables do not depend on Node, and equal the generated file. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isTag, lowerCase, UNICODE_VERSION } from '../../../../dist/engine/protocol/text.js';
import { nodes } from '../../../support/runner/nodes.js';

const writer = fileURLToPath(new URL('../../../../tools/unicode-tables.mjs', import.meta.url));
const written = new URL('../../../../engine/protocol/unicode-tables.ts', import.meta.url);
const own = fileURLToPath(new URL('../../../../dist/engine/protocol/text.js', import.meta.url));
const run = (node: string, ...args: string[]) =>
  execFileSync(node, args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
const unicodeOf = (node: string) => run(node, '-p', 'process.versions.unicode').trim();

/** Yields all code points except surrogates. */
function* points(): Iterable<number> {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point < 0xd800 || point > 0xdfff) yield point;
  }
}

test('unicode: the tables of this Node differ only by added characters', () => {
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
  // A new Unicode version only adds characters.
  expect(moved.filter((point) => !added.includes(point))).toEqual([]);
  // Tag characters that each version added.
  const sizes: Record<string, number> = { [UNICODE_VERSION]: 0, '17.0': 4_699 };
  const size = sizes[String(process.versions.unicode)];
  if (size !== undefined) expect(added).toHaveLength(size);
});

test('unicode: refuses tags with characters of a later version', () => {
  for (const text of ['\u{1ad5}', 'a\u{1ad5}', '\u{16ea0}']) expect(isTag(text)).toBe(false);
});

test('unicode: lower case ignores context and language and keeps the length', () => {
  expect(lowerCase('ΣΟΦΟΣ')).toBe('σοφοσ');
  expect(lowerCase('İ'.repeat(32))).toBe('i'.repeat(32));
  expect([lowerCase('ẞA'), lowerCase('𐐀𞤀Ꭰ')]).toEqual(['ßa', '𐐨𞤢ꭰ']);
});

const same = nodes.filter((node) => unicodeOf(node) === UNICODE_VERSION);
const shown = same.length > 0 ? same : [`none of Unicode ${UNICODE_VERSION} in FOLKMOOT_NODES`];

describe.skipIf(same.length === 0).each(shown)('unicode: %s', (node) => {
  test('unicode: the generator writes the committed tables', () => {
    expect(run(node, writer, '--print')).toBe(readFileSync(written, 'utf8'));
  });
});

describe.each(nodes)('%s', (node) => {
  test('unicode: has the same tags and lower case', () => {
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
