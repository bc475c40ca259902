/**
 * The engine itself over the log that the server hands out: recomputes entry by entry, and stops
 * where the first of them leads to something else than the server has.
 */
import { verifyWeb } from '../../dist/engine/crypto/verifiers/web.js';
import type { Verifying } from '../../dist/engine/replay/check.js';
import type { Divergence } from '../../dist/engine/replay/divergence.js';
import { type LogLine, parseLine } from '../../dist/engine/replay/line.js';
import { Recompute, type ReplayedStep } from '../../dist/engine/replay/recompute.js';
import { StoredEvents } from './events.js';
import { get, json } from './http.js';
import type { Parting, Progress, Recomputed } from './messages.js';
import { partingOf, type StoredEvent } from './parting.js';
import { Records } from './records.js';

/** Entries that are fetched at once, and that are applied between two looks at other messages. */
const PAGE = 1_000;
const PIECE = 250;

interface Position {
  seq: number;
  digest: string;
  log_digest: string;
}

export interface Recomputing {
  /** Whether every signature is checked again. */
  signatures: boolean;
  tell(progress: Progress): void;
  stopped(): boolean;
  /** Told what each entry did; true when nothing that comes later matters. */
  onStep?: (step: ReplayedStep) => boolean;
}

/**
 * Up to the entry at which the server stands when it begins; null when it was stopped.
 *
 * @throws {Error} when the server does not answer as it should, in words for the reader
 */
export async function recompute(origin: string, how: Recomputing): Promise<Recomputed | null> {
  const { data } = await json<{ data: Position }>(`${origin}/api/v1/meta`);
  const end = data.seq;
  const served = { digest: data.digest, log_digest: data.log_digest };
  const verifier = new Counting();
  const events = new StoredEvents(origin);
  let enough = false;
  const run = new Recompute({
    records: new Records(),
    verifier: how.signatures ? verifier : undefined,
    onStep: (step) => {
      events.add(step);
      if (how.onStep?.(step)) enough = true;
    },
  });
  const soFar = () => ({ entries: run.entries, of: end + 1, signatures: verifier.held });
  const result = (parting: Parting | null) => ({ ...soFar(), ...digests(run), served, parting });
  while (run.entries <= end) {
    const lines = await page(origin, run.entries, Math.min(PAGE, end + 1 - run.entries));
    if (lines.length === 0) throw new Error(`the server gave no entry ${run.entries}`);
    for (let from = 0; from < lines.length; from += PIECE) {
      const piece = lines.slice(from, from + PIECE);
      const divergence = run.apply(await run.check(piece));
      if (how.stopped()) return null;
      how.tell(soFar());
      // Events before the entry that parts were recomputed, too, and may part earlier.
      const other = await events.compare();
      if (other) return result(other);
      if (divergence) return result(await explained(origin, divergence, piece, run));
      if (enough) return result(null);
    }
  }
  return result(null);
}

/** Checks signatures, and counts those that hold. */
class Counting implements Verifying {
  held = 0;

  async verify(jobs: Parameters<Verifying['verify']>[0]): Promise<boolean[]> {
    const verdicts = await Promise.all(jobs.map(verifyWeb));
    this.held += verdicts.filter(Boolean).length;
    return verdicts;
  }
}

async function explained(
  origin: string,
  divergence: Divergence,
  lines: readonly LogLine[],
  run: Recompute,
): Promise<Parting> {
  const line = lines.find(({ entry }) => entry.seq === divergence.seq);
  const stored = divergence.what === 'digest' ? await eventsOf(origin, divergence.seq) : null;
  return partingOf(divergence, line, run.last, stored);
}

const digests = ({ digest, logDigest }: Recompute) => ({ digest, log_digest: logDigest });

async function page(origin: string, from: number, limit: number): Promise<LogLine[]> {
  const answer = await get(`${origin}/api/v1/log?from=${from}&limit=${limit}`);
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => parseLine(line, `the server's log, entry ${from + index},`));
}

async function eventsOf(origin: string, entry: number): Promise<StoredEvent[] | null> {
  try {
    const { data } = await json<{ data: { events: StoredEvent[] } }>(
      `${origin}/api/v1/entries/${entry}`,
    );
    return data.events;
  } catch {
    // Then the digests have to say it.
    return null;
  }
}
