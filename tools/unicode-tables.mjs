/**
 * Writes engine/protocol/unicode-tables.ts from this Node's tables. The Node version must have the
 * protocol's Unicode version, as Node 20.19 does.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const VERSION = '16.0';
const LAST = 0x10ffff;
const path = fileURLToPath(new URL('../engine/protocol/unicode-tables.ts', import.meta.url));

const isSurrogate = (point) => point >= 0xd800 && point <= 0xdfff;
const isInTag = (point) => /^[\p{L}\p{M}\p{N}]$/u.test(String.fromCodePoint(point));

/** Returns the starts and ends of all ranges. */
function borders() {
  const found = [];
  let inside = false;
  for (let point = 0; point <= LAST + 1; point += 1) {
    const now = point <= LAST && !isSurrogate(point) && isInTag(point);
    if (now !== inside) found.push(point);
    inside = now;
  }
  return found;
}

/** Only U+0130 maps to two characters. The first is its simple mapping. */
const lower = (point) =>
  isSurrogate(point) ? point : String.fromCodePoint(point).toLowerCase().codePointAt(0);

/** Returns runs of equidistant code points with the same offset. */
function runs() {
  const found = [];
  for (let point = 0; point <= LAST; point += 1) {
    const by = lower(point) - point;
    if (by === 0) continue;
    const last = found.at(-1);
    const step = last && point - (last.from + last.step * (last.count - 1));
    if (last?.by === by && last.count === 1 && step <= 2) Object.assign(last, { step, count: 2 });
    else if (last?.by === by && last.step === step) last.count += 1;
    else found.push({ from: point, count: 1, step: 1, by });
  }
  return found;
}

const numbersOf = ({ from, count, step, by }) => [from, count, step, by];

const text36 = (numbers) => numbers.map((number) => number.toString(36)).join(' ');

function differences(numbers) {
  return numbers.map((number, index) => number - (numbers[index - 1] ?? 0));
}

function lines(text) {
  return text.match(/.{1,94}(?: |$)/g).map((line) => `  '${line.trimEnd()}',`);
}

export function tables() {
  const source = 'Written by tools/unicode-tables.mjs and read by text.ts.';
  return `/** Unicode ${VERSION} tables, in base 36. ${source} */
/**
 * Borders between code points inside and outside General_Category L, M and N, each as the step from
 * the last.
 */
export const tagBorders = [
${lines(text36(differences(borders()))).join('\n')}
].join(' ');

/** Simple_Lowercase_Mapping, as runs of (first code point, count, step, offset to add). */
export const lowerRuns = [
${lines(text36(runs().flatMap(numbersOf))).join('\n')}
].join(' ');
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.versions.unicode !== VERSION) {
    throw new Error(`this Node has Unicode ${process.versions.unicode}; expected ${VERSION}`);
  }
  if (process.argv[2] === '--print') process.stdout.write(tables());
  else writeFileSync(path, tables());
}
