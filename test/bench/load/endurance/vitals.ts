/** What a server holds while it works, and whether that grows. */
import { existsSync, readFileSync } from 'node:fs';
import { type Host, openFiles } from '../../../support/host.js';

/** For Node: the server then tells its heap when it is asked. */
export const nodeArgs = ['--expose-gc', `--import=${new URL('./collect.mjs', import.meta.url)}`];

export interface Vitals {
  /** Without garbage. */
  heapBytes: number;
  /** Null where there is no /proc, and so are the next. */
  anonymousBytes: number | null;
  openFiles: number | null;
}

/** Of a server that was started with `nodeArgs`. */
export async function vitalsOf(server: Host): Promise<Vitals> {
  const heapBytes = Number(await server.ask('heap'));
  if (!hasProc) return { heapBytes, anonymousBytes: null, openFiles: null };
  const { pid } = server;
  return { heapBytes, anonymousBytes: anonymousBytes(pid), openFiles: openFiles(pid) };
}

/** Linux has it; macOS and Windows do not. */
export const hasProc = existsSync('/proc/self/fd');

/** Memory of the process that is no page of a file, such as those of LMDB's map are. */
function anonymousBytes(pid: number): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}

export interface Trend {
  from: number;
  to: number;
}

/**
 * From the first third of the samples to the last. Of each the median, for a single one may be
 * taken in the middle of anything. Null where nothing could be measured.
 */
export function trendOf(samples: readonly (number | null)[]): Trend | null {
  const known = samples.filter((one) => one !== null);
  const third = Math.floor(known.length / 3);
  if (third === 0) return null;
  return { from: median(known.slice(0, third)), to: median(known.slice(-third)) };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
