/** Loads the module of a script: anew for each group of each run, so that none knows of another. */
import { fileBounds, readBounded } from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { fileInside } from '../../scenario/files/inside.js';
import { ScenarioError } from '../../scenario/problem.js';
import { loaded } from './guard/misuse.js';
import { within } from './guard/time-limit.js';
import type { ScriptModule } from './interface.js';
import { oneLine } from './one-line.js';

/** What a script may export, and is called. */
export const functionNames = [
  ...['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive', 'report'],
] as (keyof ScriptModule)[];

export interface LoadedModule {
  functions: ScriptModule;
  sha256: string;
}

/**
 * Runs what stands at the top of the module, for so long at most.
 * @throws {ScenarioError} when it cannot be loaded, or has none of the functions.
 */
export async function loadModule(
  path: string,
  folder: string,
  limitMs: number,
): Promise<LoadedModule> {
  try {
    const found = fileInside(path, folder, 'a module');
    if ('why' in found) throw new Error(`it ${found.why}`);
    const { file } = found;
    const text = readBounded(file, fileBounds.text).toString();
    const functions = functionsOf(await evaluated(file, folder, limitMs));
    return { functions, sha256: sha256Hex(text) };
  } catch (cause) {
    throw new ScenarioError(`script ${path}: ${oneLine(cause)}`, { cause });
  }
}

async function evaluated(file: string, folder: string, limitMs: number): Promise<object> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
  // The compiler is loaded before anything is guarded or timed.
  jiti.transform({ source: '', ts: true });
  let module: object = {};
  try {
    within(limitMs, () => {
      module = loaded(folder, () => jiti(file) as object);
    });
  } catch (error) {
    const waits = error instanceof SyntaxError && error.message.startsWith('await is only valid');
    if (!waits) throw error;
    throw new SyntaxError('it awaits something at its top; a script is loaded at once');
  }
  return module;
}

function functionsOf(module: object): ScriptModule {
  const given = module as Record<keyof ScriptModule, unknown>;
  const names = functionNames.filter((name) => typeof given[name] === 'function');
  if (names.length > 0) return Object.fromEntries(names.map((name) => [name, given[name]]));
  throw new Error(`it exports none of the functions ${functionNames.join(', ')}`);
}
