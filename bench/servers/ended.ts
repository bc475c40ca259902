/** CPU time of processes that were started here and have ended, with theirs: from Linux' /proc. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for every program, whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/** Of all that have ended so far, in seconds; null where there is no such thing. */
export const endedSeconds = (): number | null => fieldsOf('self', [13, 14]);

/** Of one that is running, with those that it started and that have ended. */
export const soFarSeconds = (pid: number): number | null => fieldsOf(pid, [11, 12, 13, 14]);

/** proc(5): counted behind the second, in brackets, which may hold spaces. */
function fieldsOf(pid: number | 'self', which: readonly number[]): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return which.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
