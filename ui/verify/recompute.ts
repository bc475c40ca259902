/**
 * Runs the engine over a server's log, entry by entry, and stops at the first divergence from the
 * server's data. A certificate is collected during such a run.
 */
import { checkCertificate } from '../../dist/engine/certificate/check.js';
import { Collector } from '../../dist/engine/certificate/collect.js';
import { certificateText } from '../../dist/engine/certificate/format.js';
import { verifyWeb } from '../../dist/engine/crypto/webcrypto.js';
import { jsonDifference } from '../../dist/engine/protocol/canonical.js';
import { agentId } from '../../dist/engine/protocol/signing.js';
import {
  type Divergence,
  type KeptRecords,
  type LogLine,
  parseLine,
  Recompute,
  type ReplayedStep,
  type Verifying,
} from '../../dist/engine/replay/recompute.js';
import { PageError } from '../messages.js';
import { type Parting, type Progress, partNames, type Recomputed } from './messages.js';

/** Entries per request, and entries applied before the worker yields to messages. */
const PAGE = 1_000;
const PIECE = 250;

interface Position {
  seq: number;
  digest: string;
  log_digest: string;
}

interface Recomputing {
  /** True to verify every signature. */
  signatures: boolean;
  tell(progress: Progress): void;
  stopped(): boolean;
  /** Called after each entry; returns true to stop. */
  onStep?: (step: ReplayedStep) => boolean;
}

/**
 * Recomputes the log up to the entry that is newest when the call starts. Returns null if stopped.
 *
 * @throws {PageError} if the server is not responding as expected
 */
export async function recompute(origin: string, how: Recomputing): Promise<Recomputed | null> {
  const { data } = await getJson<{ data: Position }>(`${origin}/api/v1/meta`);
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
    const lines = await logPage(origin, run.entries, Math.min(PAGE, end + 1 - run.entries));
    if (lines.length === 0) throw new PageError('ENTRY_NOT_FOUND', { entry: run.entries });
    for (let from = 0; from < lines.length; from += PIECE) {
      const piece = lines.slice(from, from + PIECE);
      const divergence = run.apply(await run.check(piece));
      if (how.stopped()) return null;
      how.tell(soFar());
      // An event before the divergent entry may already differ.
      const other = await events.compare();
      if (other) return result(other);
      if (divergence) return result(await explained(origin, divergence, piece, run));
      if (enough) return result(null);
    }
  }
  return result(null);
}

/** Verifies signatures and counts the valid ones. */
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

async function logPage(origin: string, from: number, limit: number): Promise<LogLine[]> {
  const answer = await getAnswer(`${origin}/api/v1/log?from=${from}&limit=${limit}`);
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => parseLine(line, `log of the server, entry ${from + index}`));
}

async function eventsOf(origin: string, entry: number): Promise<StoredEvent[] | null> {
  try {
    const { data } = await getJson<{ data: { events: StoredEvent[] } }>(
      `${origin}/api/v1/entries/${entry}`,
    );
    return data.events;
  } catch {
    // If the events cannot be read, the page shows the digests.
    return null;
  }
}

interface EventsPage {
  data: { events: StoredEvent[]; next_cursor: string | null };
}

/** Compares the server's stored events with the recomputed events. */
class StoredEvents {
  readonly #steps: ReplayedStep[] = [];
  /** Fetched events that are not yet compared, and the `seq` of the last fetched event. */
  #fetched: StoredEvent[] = [];
  #last = 0;

  constructor(private readonly origin: string) {}

  /** Queues an entry's events for `compare`. */
  add(step: ReplayedStep): void {
    if (step.events.length > 0) this.#steps.push(step);
  }

  /** Compares the queued events. Returns the first divergence, or null. */
  async compare(): Promise<Parting | null> {
    for (const step of this.#steps.splice(0)) {
      while (this.#fetched.length < step.events.length && (await this.#fetch()));
      const stored = this.#fetched.splice(0, step.events.length);
      const same = step.events.every(({ json }, place) => json === JSON.stringify(stored[place]));
      if (same) continue;
      const { seq, at, kind } = step.entry;
      const found = eventParting(step.events, stored);
      if (found) return { entry: seq, at, kind, ...found };
    }
    return null;
  }

  /** Fetches the next page; returns false at the end. */
  async #fetch(): Promise<boolean> {
    const path = `/api/v1/events?after=${this.#last}&limit=${PAGE}`;
    const { data } = await getJson<EventsPage>(`${this.origin}${path}`);
    this.#fetched.push(...data.events);
    this.#last = data.events.at(-1)?.seq ?? this.#last;
    return data.events.length > 0;
  }
}

/** An event from the server. */
interface StoredEvent {
  seq: number;
  type: string;
  data: unknown;
}

function partingOf(
  divergence: Divergence,
  line: LogLine | undefined,
  step: ReplayedStep | null,
  stored: readonly StoredEvent[] | null,
): Parting {
  const { seq, kind, what, which, expected, found } = divergence;
  const at = line?.entry.at ?? null;
  const actor = actorOf(line);
  const inEvents =
    what === 'digest' && stored && step?.entry.seq === seq
      ? eventParting(step.events, stored)
      : null;
  if (inEvents) return { entry: seq, at, kind, ...inEvents, actor: inEvents.actor || actor };
  const field = which ? `${what} ${which}` : partNames[what];
  return { entry: seq, at, kind, actor, field, expected, found };
}

function actorOf(line: LogLine | undefined): string {
  const key = line?.entry.public_key ?? '';
  return /^[0-9a-f]{64}$/i.test(key) ? agentId(key.toLowerCase()) : '';
}

/** Finds the first member that differs between the events. */
function eventParting(
  events: ReplayedStep['events'],
  stored: readonly StoredEvent[],
): Pick<Parting, 'actor' | 'field' | 'expected' | 'found'> | null {
  for (let place = 0; place < Math.max(events.length, stored.length); place += 1) {
    const [one, other] = [events[place], stored[place]];
    const computed = one && (JSON.parse(one.json) as StoredEvent);
    const found = jsonDifference(computed, other);
    if (!found) continue;
    const { seq, type, data } = (computed ?? other)!;
    const field = [`event ${seq}`, type, found.path].filter(Boolean).join(', ');
    return { actor: agentIn(data), field, expected: found.a, found: found.b };
  }
  return null;
}

/** Returns the first agent id in an event; '' if there is none. */
function agentIn(data: unknown): string {
  return /"(agent_[0-9a-f]{32})"/.exec(JSON.stringify(data) ?? '')?.[1] ?? '';
}

/** Tables that the engine writes but does not read while it runs. */
const writtenOnly = new Set(['agent_states', 'standings', 'state', 'block_numbers', 'network']);

/** The engine's records in memory, without the tables that it never reads. */
class Records implements KeptRecords {
  readonly #texts = new Map<string, string>();

  get(table: string, key: unknown): string | undefined {
    return this.#texts.get(recordKey(table, key));
  }

  /** Needed only to restore an engine. This engine always starts at genesis. */
  range(): never {
    throw new Error('range reads are not supported');
  }

  write(_seq: number, changes: readonly { table: string; key: unknown; json: string | null }[]) {
    for (const { table, key, json } of changes) {
      if (writtenOnly.has(table)) continue;
      if (json === null) this.#texts.delete(recordKey(table, key));
      else this.#texts.set(recordKey(table, key), json);
    }
  }
}

const recordKey = (table: string, key: unknown) => `${table} ${JSON.stringify(key)}`;

async function getJson<T>(url: string): Promise<T> {
  return (await (await getAnswer(url)).json()) as T;
}

/**
 * Fetches a URL from the server. Retries a rate-limited request after `Retry-After`.
 *
 * @throws {PageError} for any other refusal, or if there is no response
 */
async function getAnswer(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (!answer) throw new PageError('SERVER_UNREACHABLE');
    if (answer.ok) return answer;
    const wait = Number(answer.headers.get('retry-after'));
    const { status } = answer;
    if (status !== 429 || !(wait > 0)) {
      throw new PageError('SERVER_STATUS', { status, path: new URL(url).pathname });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 60) * 1_000));
  }
}

const BRIDGE_BYTES = 1024 * 1024;

/**
 * Builds a block's certificate.
 *
 * @throws {PageError} if the log does not match or yields no valid certificate
 */
export async function certify(
  origin: string,
  block: string,
  tell: (progress: Progress) => void,
): Promise<string> {
  const collector = new Collector({ block, bridgeBytes: BRIDGE_BYTES });
  const onStep = (step: Parameters<Collector['take']>[0]) => {
    collector.take(step);
    return collector.done;
  };
  const made = await recompute(origin, { signatures: false, tell, stopped: () => false, onStep });
  const parting = made?.parting;
  if (parting) {
    const { entry, field, expected, found } = parting;
    throw new PageError('ENTRY_DIVERGES', { entry, field, found, expected });
  }
  if (collector.problem !== null) {
    throw new PageError('CERTIFICATE_INVALID', { message: collector.problem.message });
  }
  const text = certificateText(collector.certificate());
  const checked = checkCertificate(text);
  if (checked.holds) return text;
  throw new PageError('CERTIFICATE_INVALID', { message: `${checked.problem}` });
}
