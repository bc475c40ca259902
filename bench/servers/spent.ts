/** Wall time and CPU time of child processes, on Linux. */
import { readFileSync } from 'node:fs';

export interface Spent {
  seconds: number;
  /** CPU time of the processes that ended during the work; 0 if unsupported. */
  cpuSeconds: number;
}

export async function spendOn(work: () => Promise<unknown>): Promise<Spent> {
  const [since, before] = [performance.now(), endedSeconds() ?? 0];
  await work();
  const seconds = (performance.now() - since) / 1_000;
  return { seconds, cpuSeconds: (endedSeconds() ?? 0) - before };
}

/** Unit of CPU time in /proc on Linux, independent of the kernel clock. */
const TICKS_PER_SECOND = 100;

/** CPU time of all children that have ended, in seconds; null if unsupported. */
export const endedSeconds = (): number | null => fieldsOf('self', [13, 14]);

/** CPU time of a running process and its ended children. */
export const soFarSeconds = (pid: number): number | null => fieldsOf(pid, [11, 12, 13, 14]);

/**
 * Reads the fields after the second field of proc(5), which is in parentheses and may contain
 * spaces.
 */
function fieldsOf(pid: number | 'self', which: readonly number[]): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return which.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
