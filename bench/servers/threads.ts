/** CPU time of a process by thread, from Linux' /proc; null where there is no such thing. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for every program, whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/** Seconds by thread id. */
export function threadSeconds(pid: number): Map<string, number> | null {
  const folder = `/proc/${pid}/task`;
  try {
    const threads = readdirSync(folder);
    return new Map(
      threads.map((id) => [id, secondsIn(readFileSync(`${folder}/${id}/stat`, 'utf8'))]),
    );
  } catch {
    return null;
  }
}

/** proc(5): utime and stime are fields 14 and 15; the second, in brackets, may hold spaces. */
function secondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** What a server's threads worked, seconds. */
export interface ByThread {
  /** The main one: what needs order happens there. */
  engine: number;
  /** The verifier pool's: the busiest of the others, for threads have no names. */
  verifier: number;
  /** Garbage collection, compilation, and those of libuv, which commit. */
  rest: number;
}

/** What each thread works from now on; null where that is not known. A pool of 0 rests. */
export function watchThreads(pid: number, poolThreads: number): () => ByThread | null {
  const before = threadSeconds(pid);
  return () => {
    const after = threadSeconds(pid);
    return before && after && spentBetween(pid, before, after, poolThreads);
  };
}

/** By thread, where the pool has `poolThreads`. */
export function spentBetween(
  pid: number,
  before: Map<string, number>,
  after: Map<string, number>,
  poolThreads: number,
): ByThread {
  const main = String(pid);
  const engine = (after.get(main) ?? 0) - (before.get(main) ?? 0);
  const verifier = busiest(pid, before, after, poolThreads);
  return { engine, verifier, rest: busiest(pid, before, after, after.size) - verifier };
}

/** What the `count` busiest threads beside the main one worked in between, seconds. */
function busiest(
  pid: number,
  before: Map<string, number>,
  after: Map<string, number>,
  count: number,
): number {
  const spent = [...after]
    .filter(([id]) => id !== String(pid))
    .map(([id, seconds]) => seconds - (before.get(id) ?? 0))
    .sort((a, b) => b - a);
  return spent.slice(0, count).reduce((sum, seconds) => sum + seconds, 0);
}
