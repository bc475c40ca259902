/**
 * Servers in their own processes: `folkmoot serve --limits off` as users run it, the bare server
 * and the plain server. Also reads the CPU time of their threads from /proc on Linux.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Signatory } from '../../engine/protocol/compose.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import { formatHead, registration } from '../fixtures/chain.js';
import { type MeasuredServer, withChildServer } from './child-server.js';

export interface FolkmootServer extends MeasuredServer {
  pid: number;
  /** Sends a signed request; throws unless the server accepts it. */
  send(request: SignedRequest): Promise<unknown>;
  /** Values from /metrics, by name and labels. */
  metrics(): Promise<Map<string, number>>;
}

/** Creates a temporary folder, and removes it after `work`. */
export async function withFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'folkmoot-bench-'));
  try {
    return await work(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Runs a server for the duration of `work`. `more` contains options for `serve`. */
export function withFolkmoot<T>(
  work: (server: FolkmootServer) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> {
  return withFolder(async (data) => {
    const server = await startFolkmoot(data, more);
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  });
}

async function startFolkmoot(data: string, more: readonly string[]) {
  const options = ['--port', '0', '--limits', 'off', '--log-level', 'error', '--data', data];
  const command = [...folkmootArguments, 'serve', ...options, ...more];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (!line) throw new Error('folkmoot serve ended before it was listening');
  const { url } = JSON.parse(String(line[0])) as { url: string };
  const metrics = async () => parseMetrics(await (await fetch(`${url}/metrics`)).text());
  const metric = async (name: string) => (await metrics()).get(`folkmoot_${name}`) ?? 0;
  return {
    url,
    pid: child.pid!,
    metrics,
    cpuSeconds: () => metric('process_cpu_seconds_total'),
    send: (request: SignedRequest) => send(url, request),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function send(url: string, request: SignedRequest): Promise<unknown> {
  const { method, path, headers } = formatHead(request);
  const response = await fetch(url + path, { method, headers, body: request.body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${request.kind} failed with ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: unknown }).data;
}

/** Registers agents with limited concurrency. */
export async function registerAt(server: FolkmootServer, by: readonly Signatory[]): Promise<void> {
  const timestamp = new Date().toISOString();
  for (let from = 0; from < by.length; from += 32) {
    const some = by.slice(from, from + 32);
    await Promise.all(some.map((one, at) => server.send(registration(one, from + at, timestamp))));
  }
}

function parseMetrics(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/**
 * Arguments that start folkmoot. The flag is in the shebang line of the program, which has no
 * effect if Node.js is given the file.
 */
export const folkmootArguments: readonly string[] = [
  '--max-semi-space-size=128',
  fileURLToPath(new URL('../../cli/main.js', import.meta.url)),
];

/** Runs a bare server that answers each GET with `body`, for the duration of `work`. */
export function withBare<T>(
  body: string,
  work: (server: MeasuredServer) => Promise<T>,
): Promise<T> {
  return withChildServer('bare-server', [], async (server) => {
    await server.tell({ body });
    return work(server);
  });
}

/** Runs the plain server. With `processes`, that many processes share its port and its file. */
export function withPlain<T>(
  networkId: string,
  work: (server: MeasuredServer) => Promise<T>,
  processes?: number,
): Promise<T> {
  const more = processes === undefined ? [] : [String(processes)];
  return withFolder((path) => withChildServer('plain-server', [path, networkId, ...more], work));
}

/** Unit of CPU time in /proc on Linux, independent of the kernel clock. */
const TICKS_PER_SECOND = 100;

/** Returns CPU seconds by thread id; null if /proc is not available. */
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

/**
 * Returns CPU seconds from proc(5), where utime and stime are fields 14 and 15. Field 2, in
 * parentheses, may contain spaces.
 */
function secondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU time of a server's threads, in seconds. */
export interface ByThread {
  /** Main thread, which orders all requests. */
  engine: number;
  /** Verifier pool: estimated as the busiest other threads, because threads have no names. */
  verifier: number;
  /** Garbage collection, compilation, and libuv's threads, which commit. */
  rest: number;
}

/** Splits the CPU time by kind of thread, with `poolThreads` threads in the pool. */
export function spentBetween(
  pid: number,
  before: Map<string, number>,
  after: Map<string, number>,
  poolThreads: number,
): ByThread {
  const of = (id: string) => (after.get(id) ?? 0) - (before.get(id) ?? 0);
  const verifier = busiest(pid, before, after, poolThreads);
  const rest = busiest(pid, before, after, after.size) - verifier;
  return { engine: of(String(pid)), verifier, rest };
}

/** Returns the CPU time of the `count` busiest threads other than the main thread, in seconds. */
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
