/**
 * Prepares script modules for many runs. A module and its imports inside the folder become
 * functions in the form of CommonJS, once. Each run evaluates them anew, so that no run sees the
 * variables of another one.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, extname, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../../engine/store/folder.js';
import { fileInside } from '../../scenario/files.js';
import { isContained } from './realm.js';

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
      if ('text' in inside) return null;
      const { file } = inside;
      const text = readScript(file);
      const sha256 = sha256Hex(text);
      const known = this.#known.get(file);
      if (known?.sha256 === sha256 && !(known.module && findChanged(known.module))) {
        return known.module;
      }
      const found = await compileAll(file, folder);
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
      if ('text' in inside || own.includes('node_modules')) return null;
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
