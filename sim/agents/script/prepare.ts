/**
 * Prepares script modules for many runs. A module and its imports inside the folder become
 * functions in the form of CommonJS, once. Each run evaluates them anew, so that no run sees the
 * variables of another one. Plain JavaScript does not load the compiler.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../../engine/store/folder.js';
import { fileInside } from '../../scenario/files.js';
import { functionNames } from './interface.js';
import { isContained } from './realm.js';

/** One file of a prepared module. */
interface PreparedFile {
  /** SHA-256 of the file as it was read. */
  sha256: string;
  /** Body of a function with the parameters of CommonJS. */
  code: string;
  /** Files by the names with which this file imports them. Other imports are parts of Node.js. */
  imports: Record<string, string>;
}

/** Module that can be evaluated without the compiler. Contains only plain values. */
export interface ModuleFiles {
  entry: string;
  files: Record<string, PreparedFile>;
}

export interface PreparedModule extends ModuleFiles {
  /** True if the code reaches nothing that outlives a run, except by changing built-in objects. */
  contained: boolean;
}

/** Prepared modules by path in the scenario; null for a module that needs the compiler's loader. */
export type PreparedModules = Record<string, PreparedModule | null>;

export const readScript = (file: string): string => readBounded(file, fileBounds.text).toString();

/** Evaluates a prepared module. Each call gives new instances of all its files. */
export function evaluatePrepared({ entry, files }: ModuleFiles): object {
  const modules = new Map<string, { exports: object }>();
  const load = (file: string): object => {
    const known = modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const { code, imports } = files[file]!;
    const wrapper = `(function (${PARAMETERS}) {${code}\n})`;
    const evaluate = new Script(wrapper, { filename: file }).runInThisContext() as Evaluate;
    const require = (name: string) => {
      const own = imports[name];
      return own === undefined ? (createRequire(file)(name) as object) : load(own);
    };
    evaluate.call(undefined, module.exports, require, module, file, dirname(file));
    return module.exports;
  };
  return load(entry);
}

const PARAMETERS = 'exports, require, module, __filename, __dirname';
type Evaluate = (this: undefined, ...given: unknown[]) => void;

/** Names the first file that has changed since it was prepared, or returns null. */
export function findChanged({ files }: ModuleFiles): string | null {
  const changed = ([file, { sha256 }]: [string, PreparedFile]) =>
    sha256Hex(readScript(file)) !== sha256;
  return Object.entries(files).find(changed)?.[0] ?? null;
}

/** Prepares modules, and keeps them until their files change. */
export class ModuleCache {
  readonly #known = new Map<string, { sha256: string; module: PreparedModule | null }>();

  /** @param paths paths of modules in the folder. A module that is invalid gives null. */
  async prepare(paths: readonly string[], folder: string): Promise<PreparedModules> {
    const found: PreparedModules = {};
    for (const path of paths) found[path] = await this.#prepared(path, folder);
    return found;
  }

  async #prepared(path: string, folder: string): Promise<PreparedModule | null> {
    try {
      const inside = fileInside(path, folder, 'a module');
      if ('why' in inside) return null;
      const { file } = inside;
      const text = readScript(file);
      const sha256 = sha256Hex(text);
      const known = this.#known.get(file);
      if (known?.sha256 === sha256 && !(known.module && findChanged(known.module))) {
        return known.module;
      }
      const found = preparePlain(file, folder) ?? (await compileAll(file, folder));
      const module = found && { ...found, contained: areContained(found) };
      this.#known.set(file, { sha256, module });
      return module;
    } catch {
      // The run reports the problem.
      return null;
    }
  }
}

/** Transforms a module and its imports. Returns null if it needs more than functions. */
async function compileAll(entry: string, folder: string): Promise<ModuleFiles | null> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
  const files: ModuleFiles['files'] = {};
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files[file]) continue;
    if (!/\.[cm]?[jt]s$/.test(file)) return null;
    const text = readFileSync(file, 'utf8');
    const code = jiti.transform({ source: text, filename: file, ts: extname(file).includes('t') });
    if (NEEDS_LOADER.test(code)) return null;
    const imports: Record<string, string> = {};
    for (const [, name = ''] of code.matchAll(REQUIRE)) {
      if (isBuiltin(name)) continue;
      if (!/^\.\.?\//.test(name)) return null;
      const url = jiti.esmResolve(name, pathToFileURL(file).href);
      const own = fileURLToPath(url);
      const inside = fileInside(relative(folder, own), folder, 'a module');
      if ('why' in inside || own.includes('node_modules')) return null;
      imports[name] = inside.file;
      waiting.push(inside.file);
    }
    files[file] = { sha256: sha256Hex(text), code, imports };
  }
  return { entry, files };
}

/** Parts of Node.js may keep state, so only imports of own files are contained. */
const areContained = ({ files }: ModuleFiles): boolean =>
  Object.values(files).every(({ code, imports }) =>
    isContained(
      code.replace(REQUIRE, (whole, name: string) => (Object.hasOwn(imports, name) ? '' : whole)),
    ),
  );

/** Matches an import in compiled code. */
const REQUIRE = /\brequire\(\s*["']([^"'\\]+)["']\s*\)/g;

/** Matches code that only the compiler's loader can run. */
const NEEDS_LOADER = /\bjiti\w*\b|\bimport(?:\.meta|_meta|\s*\()|\bexports\.default\b|\bawait\b/;

/** Matches a statement that exports or imports names, at the start of a line. */
const STATEMENT = new RegExp(
  '^(?:export +(?:(const|let|var|class|(?:async +)?function\\*?) +([A-Za-z_$][\\w$]*)|' +
    '\\{([\\w$\\s,]*)\\} *;?[ \\t]*$)|' +
    'import +\\{([\\w$\\s,]*)\\} +from +' +
    '(["\'])(\\.\\.?/[^"\'\\\\\\n]+\\.m?js|node:[\\w/]+)\\5 *;?[ \\t]*$)',
  'gm',
);

/** Limit on the statements of a module that is prepared without the compiler. */
const MOST_STATEMENTS = 64;

/** Matches code whose meaning as a function differs from its meaning as a module. */
const MODULE_ONLY = /\bimport\s*[(.]|\bawait\s*[([`]|\brequire\b|\bmodule\s*[.[]|<!--|-->/;

/**
 * Prepares plain JavaScript whose imports, if any, are further files of that kind.
 *
 * @returns null for any other code, which needs the compiler.
 */
export function preparePlain(entry: string, folder: string): ModuleFiles | null {
  const files: ModuleFiles['files'] = {};
  /** Names that each file exports and never assigns; null while its imports are prepared. */
  const known = new Map<string, ReadonlySet<string> | null>();
  const add = (file: string): ReadonlySet<string> | null => {
    const before = known.get(file);
    // Files that import each other see names before these have values.
    if (before !== undefined) return before;
    known.set(file, null);
    const text = readScript(file);
    const found = /\.m?js$/.test(file) ? plainFile(text) : null;
    if (!found) return null;
    const imports: PreparedFile['imports'] = {};
    for (const [name, wanted] of found.imports) {
      if (isBuiltin(name)) continue;
      const inside = fileInside(relative(folder, join(dirname(file), name)), folder, 'a module');
      if ('why' in inside || inside.file.includes('node_modules')) return null;
      imports[name] = inside.file;
      const given = add(inside.file);
      if (!given || !wanted.every((one) => given.has(one))) return null;
    }
    files[file] = { sha256: sha256Hex(text), code: found.code, imports };
    known.set(file, found.fixed);
    return found.fixed;
  };
  return add(entry) && { entry, files };
}

interface PlainFile {
  code: string;
  /** Imported names, by the name of the file. */
  imports: Map<string, string[]>;
  /** Exported names that no code assigns later. */
  fixed: Set<string>;
}

/**
 * Turns a file into the body of a function. V8 checks each step: the code before an import or an
 * export must be a complete program, so neither is ever part of a text or a comment.
 */
function plainFile(text: string): PlainFile | null {
  if (MODULE_ONLY.test(text)) return null;
  const found = [...text.matchAll(STATEMENT)];
  const words = text.match(/\b(?:ex|im)port\b/g) ?? [];
  if (found.length !== words.length || found.length > MOST_STATEMENTS) return null;
  let [code, head, end] = ['', '', 0];
  const names = new Map<string, string>();
  const imports: PlainFile['imports'] = new Map();
  const fixed = new Set<string>();
  for (const { 0: whole, 1: kind, 2: name, 3: list, 4: taken, 6: from, index } of found) {
    code += text.slice(end, index);
    if (!parses(code)) return null;
    end = index + whole.length;
    if (name !== undefined) {
      names.set(name, name);
      if (isFixed(kind!, name, text)) fixed.add(name);
      code += `;${whole.slice('export'.length)}`;
      continue;
    }
    const pairs = pairsOf((list ?? taken)!);
    if (!pairs) return null;
    code += `;${whole.replace(/[^\n]/g, '')}`;
    if (from === undefined) for (const [own, as] of pairs) names.set(as, own);
    else {
      const own = pairs.map(([one]) => one);
      imports.set(from, [...(imports.get(from) ?? []), ...own]);
      // A module's imports run before its own code.
      const members = pairs.map(([one, as]) => `${one}: ${as}`).join(', ');
      head += `const { ${members} } = require(${JSON.stringify(from)});`;
    }
  }
  code = `"use strict";${head}${code}${text.slice(end)}`;
  if (names.size === 0 || !parses(code) || hasMore(code, text, names)) return null;
  const exported = [...names].map(([name, own]) => `exports.${name} = ${own};`).join(' ');
  return { code: `${code}\n;${exported}`, imports, fixed };
}

/** Returns pairs of names from `a, b as c`, or null for any other list. */
function pairsOf(list: string): [own: string, as: string][] | null {
  const pairs: [string, string][] = [];
  for (const one of list.split(',').map((part) => part.trim())) {
    const [, own, , as = own] = /^([\w$]+)(\s+as\s+([\w$]+))?$/.exec(one) ?? [];
    if (own === undefined ? one !== '' : as === 'default' || own === 'default') return null;
    if (own !== undefined) pairs.push([own, as!]);
  }
  return pairs;
}

/** Returns true if no code assigns a declared name later. Importing files then copy its value. */
function isFixed(kind: string, name: string, text: string): boolean {
  if (kind === 'const') return true;
  const own = `(?<![.\\w$])${name.replaceAll('$', '\\$')}`;
  const assigned = new RegExp(`${own}\\s*(?:[-+*/%&|^?<>]*=(?![=>])|[+]{2}|--)`);
  return kind !== 'let' && kind !== 'var' && !assigned.test(text);
}

function parses(code: string): boolean {
  try {
    new Script(code);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns true if a name that a script may export is declared and not exported. It may be a further
 * name of a declaration, such as `export const vote = approve, wake = null`.
 */
function hasMore(code: string, text: string, names: ReadonlyMap<string, string>): boolean {
  const others = functionNames.filter((name) => !names.has(name) && text.includes(name));
  return others.some((name) => !parses(`${code}\nlet ${name};`));
}
