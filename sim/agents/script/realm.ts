/**
 * Isolation of the runs that one process does after another: code that can leave nothing behind
 * except changes of built-in objects, and a check that these objects are unchanged.
 */
import { runInNewContext } from 'node:vm';

/** Names of the objects that the language defines, without those of Node.js. */
const languageNames = (): string[] =>
  (runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]).filter(
    (name) => !['globalThis', 'console', 'WebAssembly', 'Function', 'eval'].includes(name),
  );

/** Words of the language that reach the global object, or code that runs after the call. */
const WORDS = ['globalThis', 'Function', 'eval', 'async', 'await', 'Promise', 'module'];

let outside: RegExp | null = null;

/** Matches code that may reach more than the language's own objects. */
function outsidePattern(): RegExp {
  if (outside) return outside;
  const own = new Set(languageNames());
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => !own.has(name));
  const words = [...new Set([...names, ...WORDS])].filter((name) => !harmless.has(name));
  // A class may have a constructor; its name as a member leads to `Function`.
  outside = new RegExp(`\\b(?:${words.join('|')})\\b|[.[]\\s*["'\`]?constructor\\b`);
  return outside;
}

/** Functions that keep no state. */
const harmless = new Set(['structuredClone']);

/** Returns true if the code names nothing that outlives a run, except the language's objects. */
export const isContained = (code: string): boolean => !outsidePattern().test(code);

interface Known {
  object: object;
  keys: readonly PropertyKey[];
  members: readonly PropertyDescriptor[];
}

/**
 * Records all objects of the language. The returned function is true while none of them, and no
 * global variable, has changed.
 */
export function watchRealm(): () => boolean {
  const names = languageNames();
  const read = (name: string) => (globalThis as Record<string, unknown>)[name];
  const values = names.map(read);
  const hidden = [function* () {}, (() => {})(), [][Symbol.iterator](), new Map().keys()];
  const known = recordAll([...values, ...hidden, new Set().keys(), ''.matchAll(/a/g)]);
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
    const keys = Reflect.ownKeys(object);
    const members = keys.map((key) => Reflect.getOwnPropertyDescriptor(object, key)!);
    known.push({ object, keys, members });
    waiting.push(Reflect.getPrototypeOf(object));
    for (const { value, get, set } of members) waiting.push(value, get, set);
  }
  return known;
}

function isUnchanged({ object, keys, members }: Known): boolean {
  if (Reflect.ownKeys(object).length !== keys.length) return false;
  return keys.every((key, at) => {
    const [now, before] = [Reflect.getOwnPropertyDescriptor(object, key), members[at]!];
    if (!now || now.writable !== before.writable) return false;
    return Object.is(now.value, before.value) && now.get === before.get && now.set === before.set;
  });
}
