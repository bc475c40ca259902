/** CPU time of a process by thread, from Linux' /proc; null where there is no such thing. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second for every program, whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/** Seconds by thread id; those of the processes that it started are together under `fronts`. */
export function threadSeconds(pid: number): Map<string, number> | null {
  try {
    const own = secondsOf(pid);
    const fronts = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
    return own.set(FRONTS, sum(fronts.flatMap((front) => [...secondsOf(Number(front)).values()])));
  } catch {
    return null;
  }
}

const FRONTS = 'fronts';
const sum = (seconds: readonly number[]) => seconds.reduce((all, one) => all + one, 0);

function secondsOf(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`;
  const threads = readdirSync(folder);
  return new Map(
    threads.map((id) => [id, secondsIn(readFileSync(`${folder}/${id}/stat`, 'utf8'))]),
  );
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
  /** All of the processes that have its connections; 0 where there are none. */
  fronts: number;
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
  const of = (id: string) => (after.get(id) ?? 0) - (before.get(id) ?? 0);
  const verifier = busiest(pid, before, after, poolThreads);
  const rest = busiest(pid, before, after, after.size) - verifier;
  return { engine: of(String(pid)), verifier, rest, fronts: of(FRONTS) };
}

/** What the `count` busiest threads beside the main one worked in between, seconds. */
function busiest(
  pid: number,
  before: Map<string, number>,
  after: Map<string, number>,
  count: number,
): number {
  const spent = [...after]
    .filter(([id]) => id !== String(pid) && id !== FRONTS)
    .map(([id, seconds]) => seconds - (before.get(id) ?? 0))
    .sort((a, b) => b - a);
  return sum(spent.slice(0, count));
}
