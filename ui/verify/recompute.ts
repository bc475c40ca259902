/**
 * The engine over the log that a server hands out: it recomputes entry by entry, and stops at the
 * first that leads to something else than the server has. A certificate is collected on such a
 * walk.
 */

import { checkCertificate } from '../../dist/engine/certificate/check.js';
import { Collector } from '../../dist/engine/certificate/collect.js';
import { certificateText } from '../../dist/engine/certificate/format.js';
import { verifyWeb } from '../../dist/engine/crypto/webcrypto.js';
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
import type { Parting, Progress, Recomputed } from './messages.js';

/** Entries that are fetched at once, and that are applied between two looks at other messages. */
const PAGE = 1_000;
const PIECE = 250;

interface Position {
  seq: number;
  digest: string;
  log_digest: string;
}

interface Recomputing {
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

async function logPage(origin: string, from: number, limit: number): Promise<LogLine[]> {
  const answer = await getAnswer(`${origin}/api/v1/log?from=${from}&limit=${limit}`);
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => parseLine(line, `the server's log, entry ${from + index},`));
}

async function eventsOf(origin: string, entry: number): Promise<StoredEvent[] | null> {
  try {
    const { data } = await getJson<{ data: { events: StoredEvent[] } }>(
      `${origin}/api/v1/entries/${entry}`,
    );
    return data.events;
  } catch {
    // Then the digests have to say it.
    return null;
  }
}

interface EventsPage {
  data: { events: StoredEvent[]; next_cursor: string | null };
}

/** The events that the server has, held against those that were recomputed. */
class StoredEvents {
  readonly #origin: string;
  readonly #steps: ReplayedStep[] = [];
  /** Fetched, and not compared yet; `seq` of the last one that was fetched. */
  #fetched: StoredEvent[] = [];
  #last = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** What one entry did, to be compared later. */
  add(step: ReplayedStep): void {
    if (step.events.length > 0) this.#steps.push(step);
  }

  /** Compares all that was added; the first entry whose events are others, or null. */
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

  /** The next page of them; false where there are no more. */
  async #fetch(): Promise<boolean> {
    const path = `/api/v1/events?after=${this.#last}&limit=${PAGE}`;
    const { data } = await getJson<EventsPage>(`${this.#origin}${path}`);
    this.#fetched.push(...data.events);
    this.#last = data.events.at(-1)?.seq ?? this.#last;
    return data.events.length > 0;
  }
}

/** An event as the server has it. */
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

const partNames: Record<Divergence['what'], string> = {
  entry: 'the entry',
  signature: 'the signature',
  outcome: 'what became of it',
  event: 'an event',
  record: 'a record',
  log_digest: 'the digest of the log',
  digest: 'the digest of what came of it',
  end: 'the end of the log',
};

function actorOf(line: LogLine | undefined): string {
  const key = line?.entry.public_key ?? '';
  return /^[0-9a-f]{64}$/i.test(key) ? agentId(key.toLowerCase()) : '';
}

/** The first member of the entry's events that is another. */
function eventParting(
  events: ReplayedStep['events'],
  stored: readonly StoredEvent[],
): Pick<Parting, 'actor' | 'field' | 'expected' | 'found'> | null {
  for (let place = 0; place < Math.max(events.length, stored.length); place += 1) {
    const [one, other] = [events[place], stored[place]];
    const computed = one && (JSON.parse(one.json) as StoredEvent);
    const field = differing(computed, other, '');
    if (field === null) continue;
    const known = (computed ?? other)!;
    return {
      actor: agentIn(known.data),
      field: `event ${known.seq}, ${known.type}${field}`,
      expected: shownJson(valueAt(computed, field)),
      found: shownJson(valueAt(other, field)),
    };
  }
  return null;
}

const MOST_SHOWN = 300;

const shownJson = (value: unknown) =>
  (value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing')).slice(0, MOST_SHOWN);

/** The path of the first member that differs, as a JSON Pointer; null where none does. */
function differing(one: unknown, other: unknown, path: string): string | null {
  if (Object.is(one, other)) return null;
  if (!isObject(one) || !isObject(other)) return path;
  const members = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  for (const member of members) {
    const found = differing(one[member], other[member], `${path}/${member}`);
    if (found !== null) return found;
  }
  return null;
}

function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const member of path.split('/').slice(1)) at = isObject(at) ? at[member] : undefined;
  return at;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Whom an event is about: the first agent that it names. */
function agentIn(data: unknown): string {
  return /"(agent_[0-9a-f]{32})"/.exec(JSON.stringify(data) ?? '')?.[1] ?? '';
}

/** What nobody reads while the engine runs takes room for nothing. */
const writtenOnly = new Set(['agent_states', 'standings', 'state', 'block_numbers', 'network']);

/** Records that follow from the entries, in memory: those that the engine reads again. */
class Records implements KeptRecords {
  readonly #texts = new Map<string, string>();

  get(table: string, key: unknown): string | undefined {
    return this.#texts.get(recordKey(table, key));
  }

  /** Asked for only where an engine is restored: here each begins at genesis. */
  range(): never {
    throw new Error('records are read one by one here');
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
 * An answer of the server; a request that its limits hold back is sent again later.
 *
 * @throws {Error} in words for the reader
 */
async function getAnswer(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (!answer) throw new Error('the server does not answer');
    if (answer.ok) return answer;
    const wait = Number(answer.headers.get('retry-after'));
    if (answer.status !== 429 || !(wait > 0)) {
      throw new Error(`the server answered ${answer.status} to ${new URL(url).pathname}`);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 60) * 1_000));
  }
}

const BRIDGE_BYTES = 1024 * 1024;

/** @throws {Error} when none can be made, in words for the reader */
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
    throw new Error(`entry ${entry} does not follow: ${field} is ${found}, recomputed ${expected}`);
  }
  if (collector.problem !== null) throw collector.problem;
  const text = certificateText(collector.certificate());
  const checked = checkCertificate(text);
  if (checked.holds) return text;
  throw new Error(`the log gives no certificate that holds: ${checked.problem}`);
}
