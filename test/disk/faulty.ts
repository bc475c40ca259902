/** Compiles the failing disk (faulty.c), and preloads the library into processes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./faulty.c', import.meta.url));

/** Reason that the tests in this folder cannot run here, or undefined. */
export const why =
  process.platform !== 'linux' || spawnSync('gcc', ['--version']).status !== 0
    ? 'a disk that fails is made with gcc, for glibc on Linux'
    : undefined;

let library: string | undefined;

function compiled(): string {
  if (library !== undefined) return library;
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-faulty-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  library = join(folder, 'faulty.so');
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  return library;
}

export interface Faults {
  /** Folder on the failing disk. */
  folder: string;
  /** Rules as in faulty.c: `call:nth:errno`, separated by commas. */
  rules?: string;
  journal?: string;
  /** True to ignore all syncs. */
  noSync?: boolean;
}

/** Returns the environment variables for a process with a failing disk. */
export function faulty({ folder, rules, journal, noSync }: Faults): Record<string, string> {
  return {
    LD_PRELOAD: compiled(),
    FAULTY_FOLDER: folder,
    ...(rules === undefined ? {} : { FAULTY_RULES: rules }),
    ...(journal === undefined ? {} : { FAULTY_JOURNAL: journal }),
    ...(noSync ? { FAULTY_NOSYNC: '1' } : {}),
  };
}
