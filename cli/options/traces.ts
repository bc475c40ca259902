/** `--traces`: the module with which an operator registers an OpenTelemetry SDK. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Option } from 'commander';
import { UsageError } from '../output/exit.js';

/** Time limit for sending the last spans. */
const LAST_SPANS_MS = 2_000;

export const tracesOption = () =>
  new Option('--traces <module>', 'module for starting an OpenTelemetry SDK');

export interface Traces {
  /** Sends the last spans, with a time limit. Never rejects. */
  end(): Promise<void>;
}

/**
 * Imports the module, which registers an SDK. Its export `shutdown`, if there is one, is called at
 * the end.
 *
 * @throws {UsageError} if the module cannot be imported.
 */
export async function startTraces(module: string): Promise<Traces> {
  const loaded = await importModule(module);
  return {
    async end() {
      if (typeof loaded.shutdown !== 'function') return;
      const late = sleep(LAST_SPANS_MS, undefined, { ref: false });
      await Promise.race([callSafely(loaded.shutdown as () => unknown), late]);
    },
  };
}

async function importModule(path: string): Promise<{ shutdown?: unknown }> {
  try {
    const { loadApi } = await import('../../api/tracing.js');
    await loadApi();
    return await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    const problem = (error as Error).message.split('\n', 1)[0]!;
    throw new UsageError('INVALID_ARGUMENT', { option: '--traces', value: path, problem });
  }
}

/** Ignores errors, because a missing collector must not change the exit code. */
async function callSafely(shutdown: () => unknown): Promise<void> {
  try {
    await shutdown();
  } catch {}
}
