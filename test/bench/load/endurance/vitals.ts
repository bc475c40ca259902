/** Memory and disk use of a server under load, and its growth. */
import { existsSync, readFileSync } from 'node:fs';
import { type Host, openFiles } from '../../../support/host.js';

/** Makes the server report its heap on request. */
export const nodeArgs = ['--expose-gc', `--import=${new URL('./collect.mjs', import.meta.url)}`];

export interface Vitals {
  /** Heap in use, without garbage. */
  heapBytes: number;
  /** Null without /proc, as are the following members. */
  anonymousBytes: number | null;
  openFiles: number | null;
}

/** Samples a server that was started with `nodeArgs`. */
export async function vitalsOf(server: Host): Promise<Vitals> {
  const heapBytes = Number(await server.ask('heap'));
  if (!hasProc) return { heapBytes, anonymousBytes: null, openFiles: null };
  const { pid } = server;
  return { heapBytes, anonymousBytes: anonymousBytes(pid), openFiles: openFiles(pid) };
}

/** Linux only. */
export const hasProc = existsSync('/proc/self/fd');

/** Memory that is not backed by a file, such as the pages of the LMDB map. */
function anonymousBytes(pid: number): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}

export interface Trend {
  from: number;
  to: number;
}

/**
 * Growth from the first third of the samples to the last third. Compares medians, because
 * individual samples are noisy. Null if nothing could be measured.
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
