/**
 * Isolation of the runs that one process does after another: code that can leave nothing behind
 * except changes of built-in objects, and a check that these objects are unchanged.
 */
import { runInNewContext } from 'node:vm';
import { Streams } from '../../rng.js';

/** Names of the objects that the language defines, without those of Node.js. */
const languageNames = (): string[] =>
  (runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]).filter(
    (name) => !['globalThis', 'console', 'WebAssembly', 'Function', 'eval'].includes(name),
  );

/**
 * Patterns of words that reach the global object, code that runs after the call, the loader of
 * modules, or state of the language: V8 keeps the last match as `RegExp.$1`. A class may have a
 * constructor; any other use of that word may lead to `Function`.
 */
const WORDS = [
  ...['globalThis', 'Function', 'eval', 'async', 'await', 'Promise', 'require'],
  ...['FinalizationRegistry', 'WeakRef', 'RegExp\\b(?!\\s*\\()', 'constructor\\b(?!\\s*\\()'],
];

/** Functions of Node.js that keep no state. */
const harmless = new Set(['structuredClone']);

let outside: RegExp | null = null;

/** Matches code that may reach more than the language's own objects. */
function outsidePattern(): RegExp {
  if (outside) return outside;
  const own = new Set(languageNames());
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => !own.has(name));
  const words = [...names.filter((name) => !harmless.has(name)), ...WORDS];
  outside = new RegExp(`\\b(?:${words.join('|')})\\b|[.[]\\s*["'\`]?constructor\\b`);
  return outside;
}

/** Returns true if the code names nothing that outlives a run, except the language's objects. */
export const isContained = (code: string): boolean => !outsidePattern().test(code);

interface Known {
  object: object;
  prototype: object | null;
  keys: readonly PropertyKey[];
  members: readonly PropertyDescriptor[];
}

/**
 * Records all objects of the language, and the class of random streams, which every script gets.
 * The returned function is true while none of them, and no global variable, has changed.
 */
export function watchRealm(): () => boolean {
  const names = languageNames();
  const read = (name: string) => (globalThis as Record<string, unknown>)[name];
  const values = names.map(read);
  const iterators = [[].values(), ''[Symbol.iterator](), new Map().keys(), new Set().keys()];
  const hidden = [function* () {}, ...iterators, ''.matchAll(/a/g), new Streams('').of(0, '')];
  const known = recordAll([...values, ...hidden]);
  const globals = Reflect.ownKeys(globalThis).length;
  return () =>
    Reflect.ownKeys(globalThis).length === globals &&
    names.every((name, at) => Object.is(read(name), values[at])) &&
    known.every(isUnchanged);
}

function recordAll(roots: readonly unknown[]): Known[] {
  const seen = new Set<unknown>([globalThis]);
  const known: Known[] = [];
  const waiting = [...roots];
  while (waiting.length > 0) {
    const object = waiting.pop();
    const isObject = typeof object === 'function' || (typeof object === 'object' && object);
    if (!isObject || seen.has(object)) continue;
    seen.add(object);
    const prototype = Reflect.getPrototypeOf(object);
    const keys = Reflect.ownKeys(object);
    const members = keys.map((key) => Reflect.getOwnPropertyDescriptor(object, key)!);
    known.push({ object, prototype, keys, members });
    waiting.push(prototype);
    for (const { value, get, set } of members) waiting.push(value, get, set);
  }
  return known;
}

function isUnchanged({ object, prototype, keys, members }: Known): boolean {
  if (Reflect.getPrototypeOf(object) !== prototype) return false;
  const now = Reflect.ownKeys(object);
  if (now.length !== keys.length) return false;
  return keys.every((key, at) => {
    const [before, after] = [members[at]!, Reflect.getOwnPropertyDescriptor(object, key)!];
    return now[at] === key && aspects.every((one) => Object.is(after[one], before[one]));
  });
}

const aspects = ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'] as const;
