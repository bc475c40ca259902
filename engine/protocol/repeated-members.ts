/**
 * Finds members that appear twice in one object of a JSON text. Parsers differ in which of them
 * counts, so a signature or digest of such a text has two meanings. Pure; runs in browsers. Imports
 * nothing, because pages and the options of commands load it.
 */

/** A problem in a JSON text, and its position (JSON Pointer). */
export type Problem = { pointer: string; message: string };

/**
 * Parses a file of others, without the bounds of requests.
 * @throws {SyntaxError} if the text is not JSON, or an object has two members with one name.
 */
export function parseUnique(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (membersIn(text) === countMembers(value)) return value;
  const { pointer, message } = repeatedMember(text, FILE_DEPTH);
  throw new SyntaxError(`${pointer} ${message}`);
}

const [QUOTE, COLON, BACKSLASH] = [...'":\\'].map((char) => char.charCodeAt(0));

/** Counts the members in a valid JSON text: the colons outside its strings. */
export function membersIn(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COLON) count += 1;
  }
  return count;
}

/** Returns the position of the quotation mark that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, start, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end;
}

function isEscaped(text: string, start: number, at: number): boolean {
  let before = at;
  while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** Counts the members of a parsed value of any depth. */
function countMembers(value: unknown): number {
  let count = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    if (!Array.isArray(next)) count += inner.length;
    for (const one of inner) left.push(one);
  }
  return count;
}

/** Depth to which a file is searched. */
const FILE_DEPTH = 64;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** An object or array around a position in a text: its names so far, or null; the last step. */
interface Around {
  names: Set<string> | null;
  step: string | number;
  /** True between a colon and the next comma. */
  inMember: boolean;
}

/** Finds the first member whose name an earlier member of its object has. */
export function repeatedMember(text: string, mostDepth: number): Problem {
  const around: Around[] = [];
  const pointer = () => around.map(({ step }) => `/${escaped(String(step))}`).join('');
  for (let index = 0; index < text.length; index += 1) {
    const inside = around.at(-1);
    const char = text[index];
    if (char === '{' || char === '[') {
      // A value that is then dropped can have any depth, and its pointer any length.
      if (around.length === mostDepth) break;
      around.push({ names: char === '{' ? new Set() : null, step: 0, inMember: char === '[' });
    } else if (char === '}' || char === ']') around.pop();
    else if (char === ',' && inside?.names) inside.inMember = false;
    else if (char === ',' && inside) inside.step = Number(inside.step) + 1;
    else if (char === '"') {
      const end = endOfString(text, index);
      if (inside?.names && !inside.inMember) {
        inside.step = JSON.parse(text.slice(index, end + 1)) as string;
        inside.inMember = true;
        if (inside.names.has(inside.step)) return { pointer: pointer(), message: TWICE };
        inside.names.add(inside.step);
      }
      index = end;
    }
  }
  return { pointer: pointer(), message: `is nested deeper than ${mostDepth}` };
}

const TWICE = 'appears twice';
