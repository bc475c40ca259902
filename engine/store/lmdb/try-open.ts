/**
 * Opens a folder in a child process first where lmdb may end the process that opens it: lmdb 3.5.6
 * does not survive a mapping that fails, as where the address space is limited (`ulimit -v`).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { StoreError } from '../store.js';

const program = fileURLToPath(new URL('./try-open-child.js', import.meta.url));

/** Whether this process has a limit on its address space, as far as its system says. */
function mayLackMemory(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return !/^Max address space +unlimited/m.test(limits);
  } catch {
    return false;
  }
}

/** @throws {StoreError} `UNREADABLE` when the child dies of it. */
export function tryOpening(folder: string, tables: readonly string[], readOnly: boolean): void {
  if (!mayLackMemory()) return;
  const asked = JSON.stringify({ folder, tables, readOnly });
  const { status, signal } = spawnSync(process.execPath, [program, asked], { stdio: 'ignore' });
  if (status === 0) return;
  const how = signal ?? `code ${status}`;
  throw new StoreError(
    'UNREADABLE',
    `${folder}: LMDB ends its process (${how}) when it opens the data: no memory to map it under ` +
      'the limit on the address space (ulimit -v), or damage: folkmoot check tells',
  );
}
