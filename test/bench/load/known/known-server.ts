/**
 * A server with known behaviour, in its own process so that it does not share the load generator's
 * event loop. The server records what it did, and a test compares a run with the record.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledChild } from '../../../support/child.js';
import { type LoadResult, load, longEnough } from '../generator.js';
import type { Behaviour } from './behaviour.js';
import type { Asked, Made, Received, Record, Said } from './record.js';

export type { Received, Record } from './record.js';

export interface KnownServer {
  url: string;
  /** Returns the record so far, or the last record if the server has died. */
  record(): Promise<Record>;
}

/**
 * Child processes. They are stopped at the end of the test file, because concurrent tests share
 * this module.
 */
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Bundled once. Test files may share this module. */
let program: Promise<string> | null = null;

function host(): Promise<string> {
  if (program) return program;
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  program = bundledChild('test/bench/load/known/host.ts', join(folder, 'known'));
  return program;
}

const well: Made = {
  behaviours: [],
  citizens: 0,
  shows: 'everything',
  misdelivers: null,
};

/** Starts a correct server with the given deviations. */
export async function knownServer(made: Partial<Made> = {}): Promise<KnownServer> {
  const argument = JSON.stringify({ ...well, ...made });
  const child = fork(await host(), [argument], { execArgv: [] });
  children.push(child);
  let last: Record | null = null;
  child.on('message', (said: Said) => {
    if ('record' in said) last = said.record;
  });
  const ended = once(child, 'exit');
  const [first] = (await Promise.race([once(child, 'message'), ended])) as [Said | number | null];
  if (typeof first !== 'object' || first === null || !('port' in first)) {
    throw new Error(`known server did not start: ${first}`);
  }
  return {
    url: `http://127.0.0.1:${first.port}`,
    async record() {
      if (child.connected) {
        const asked: Asked = 'record';
        // The child may die before it receives the message.
        child.send(asked, () => {});
        await Promise.race([once(child, 'message'), ended]);
      }
      if (!last) throw new Error('known server ended without a record');
      return last;
    },
  };
}

export interface Found {
  result: LoadResult;
  record: Record;
}

/** Loads a known server until enough has happened. */
export const against = (
  made: Partial<Made> | ((durationMs: number) => Behaviour[]),
  asked: Parameters<typeof load>[1],
  isEnough: (found: Found) => boolean,
  firstMs?: number,
): Promise<Found> =>
  longEnough(
    async (durationMs) => {
      const server = await knownServer(
        typeof made === 'function' ? { behaviours: made(durationMs - 500) } : made,
      );
      const result = await load(server, { ...asked, durationMs });
      return { result, record: await server.record() };
    },
    isEnough,
    firstMs,
  );

/** Returns the requests on these routes with this treatment. */
export function treated(record: Record, treatment: Received['treatment'], on: readonly string[]) {
  return record.requests.filter((one) => one.treatment === treatment && on.includes(one.route));
}

/** Returns the times from request to response, in milliseconds, in ascending order. */
export function serviceTimes(requests: readonly Received[]): number[] {
  const times = requests.flatMap(({ atMs, answeredAtMs }) =>
    answeredAtMs === null ? [] : [answeredAtMs - atMs],
  );
  return times.sort((one, other) => one - other);
}

/** Computes a percentile by the nearest-rank method. */
export function percentile(ascending: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * ascending.length));
  return ascending[rank - 1]!;
}
