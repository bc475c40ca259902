/** A divergence as a reader needs it: which entry, whose, which field, expected and found. */
import { agentId } from '../../dist/engine/protocol/signing.js';
import type { Divergence } from '../../dist/engine/replay/divergence.js';
import type { LogLine } from '../../dist/engine/replay/line.js';
import type { ReplayedStep } from '../../dist/engine/replay/recompute.js';
import type { Parting } from './messages.js';

/** An event as the server has it. */
export interface StoredEvent {
  seq: number;
  type: string;
  data: unknown;
}

export function partingOf(
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
  const field = which ? `${what} ${which}` : names[what];
  return { entry: seq, at, kind, actor, field, expected, found };
}

const names: Record<Divergence['what'], string> = {
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
export function eventParting(
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
      expected: shown(valueAt(computed, field)),
      found: shown(valueAt(other, field)),
    };
  }
  return null;
}

const MOST_SHOWN = 300;

const shown = (value: unknown) =>
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
