/** `folkmoot sim --check-determinism`: the same run in two processes, and where they part. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Store, storedLines } from '../../../engine/internal.js';
import {
  firstDivergence,
  firstEventDivergence,
  jsonDifference,
} from '../../../sim/compare/index.js';
import type { SimResult } from '../../../sim/run/result.js';
import { openForReading } from '../../options/folder.js';
import { exitCodes } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';

const main = fileURLToPath(new URL('../../main.js', import.meta.url));
/** Whoever checks the signatures, and on however many threads, must not be seen in the result. */
const verifiers = ['pool', 'inline'] as const;

interface Finished {
  verifier: string;
  folder: string;
  code: number;
  result: SimResult;
}

/**
 * Runs `folkmoot sim` with these arguments twice and sets the exit code: 12 when the runs differ,
 * else that of the run.
 * @param given what stands after `sim`; where runs are kept and who verifies is decided here.
 */
export async function checkDeterminism(given: readonly string[]): Promise<void> {
  const { args, json } = passedOn(given);
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-check-'));
  try {
    const runs: Finished[] = [];
    for (const verifier of verifiers) {
      say(`run ${runs.length + 1} of ${verifiers.length}`);
      const ended = await runOnce(args, verifier, join(folder, verifier));
      if (typeof ended === 'number') {
        process.exitCode = ended;
        return;
      }
      runs.push(ended);
    }
    const [a, b] = runs as [Finished, Finished];
    const found = await difference(a, b);
    const { digest } = a.result;
    if (json) printJson({ same: !found, digest, ...found });
    else print(...readable(a, found));
    process.exitCode = found ? exitCodes.differs : a.code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is passed on to both runs. */
function passedOn(given: readonly string[]): { args: string[]; json: boolean } {
  const args: string[] = [];
  let json = false;
  for (let index = 0; index < given.length; index += 1) {
    const [name] = given[index]!.split('=', 1) as [string];
    if (name === '--json') json = true;
    else if (['--out', '--verifier', '--store'].includes(name)) {
      if (name === given[index]) index += 1;
    } else if (name !== '--check-determinism') args.push(given[index]!);
  }
  return { args, json };
}

/** Only the exit code of a run that did not come to its end; it has said why. */
async function runOnce(
  args: readonly string[],
  verifier: string,
  folder: string,
): Promise<Finished | number> {
  const all = [main, 'sim', ...args, '--verifier', verifier, '--out', folder, '--json'];
  const child = spawn(process.execPath, all, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (ended) => resolve(ended ?? exitCodes.crash));
  });
  const ran: number[] = [exitCodes.done, exitCodes.noProgress, exitCodes.safety];
  if (!ran.includes(code)) return code;
  return { verifier, folder, code, result: JSON.parse(text) as SimResult };
}

interface Found {
  where: string;
  /** In the order from the outside in. */
  details: Record<string, string>;
}

async function difference(a: Finished, b: Finished): Promise<Found | null> {
  const same = a.result.digest === b.result.digest && a.result.log_digest === b.result.log_digest;
  if (!same) return logDifference(a, b);
  const found = jsonDifference(lasting(a.result), lasting(b.result));
  if (!found) return null;
  const where = 'entries and events are the same, and what was measured is not';
  return { where, details: { field: found.path, [a.verifier]: found.a, [b.verifier]: found.b } };
}

/** What must be the same each time. */
function lasting({ verdict, broken, measures, entries, events, refused, virtual_ms }: SimResult) {
  return { verdict, broken, measures, entries, events, refused, virtual_ms };
}

async function logDifference(a: Finished, b: Finished): Promise<Found> {
  const stores = [openForReading(a.folder), openForReading(b.folder)] as const;
  try {
    const entry = firstDivergence(...both(stores, (store) => storedLines(store, 0, last(store))));
    if (!entry) return { where: 'only the digests of the whole runs differ', details: {} };
    const where = `entry ${entry.seq} (${entry.kind})`;
    const values = (found: { a: string; b: string }) => ({
      [a.verifier]: found.a,
      [b.verifier]: found.b,
    });
    if (entry.path !== 'digest') {
      const details = { by: entry.actor, field: entry.path || 'the entry', ...values(entry) };
      return { where, details };
    }
    const event = firstEventDivergence(
      ...both(stores, (store) => store.events(1, lastEvent(store))),
    );
    if (!event) {
      const field = 'the records that it changed; all events are the same';
      return { where, details: { by: entry.actor, field, ...values(entry) } };
    }
    const named = `${event.seq} (${event.type})`;
    const details = { by: entry.actor, event: named, field: event.path, ...values(event) };
    return { where: `${where}: the entry is the same, what followed is not`, details };
  } finally {
    for (const store of stores) await store.close();
  }
}

const last = (store: Store): number => store.meta()!.seq;
const lastEvent = (store: Store): number => store.meta()!.event_seq;

function both<T>([a, b]: readonly [Store, Store], of: (store: Store) => T): [T, T] {
  return [of(a), of(b)];
}

function readable({ result }: Finished, found: Found | null): string[] {
  if (!found) return [`deterministic: both runs have the digest ${result.digest}`];
  const lines = Object.entries(found.details).map(([name, text]) => `  ${name.padEnd(7)} ${text}`);
  return [`not deterministic: the runs part at ${found.where}`, ...lines];
}
