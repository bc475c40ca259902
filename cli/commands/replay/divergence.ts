/** A divergence as it is shown: whom it concerns, and which member of what was stored it is in. */
import type { DivergenceShown } from '../../../api/contract/proof.js';
import type { Divergence, LogLine, RecordOf, Views } from '../../../engine/internal.js';
import { standingFields } from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { jsonDifference } from '../../../sim/compare/json.js';

type Actor = NonNullable<DivergenceShown['actor']>;

/** Longer texts are cut: whoever wrote them may have wanted them to be long. */
const LONGEST = 2_048;

/** `line`: its entry, where it could be read. */
export function shownDivergence(
  found: Divergence,
  read: Views,
  line: LogLine | null,
): DivergenceShown {
  const { seq: entry, kind, what, which } = found;
  return {
    ...{ entry, kind, what, which: which ?? null },
    actor: attempt(() => actorOf(found, read, line)),
    field: attempt(() => fieldOf(found)),
    expected: cut(found.expected),
    found: cut(found.found),
  };
}

const cut = (text: string) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`);

/** What is looked at differs from what follows from the log: it may be anything. */
function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

function fieldOf({ what, which, expected, found }: Divergence): string | null {
  if (what !== 'event' && what !== 'record') return null;
  const path = jsonDifference(JSON.parse(expected), JSON.parse(found))?.path ?? null;
  if (path === null || !which?.startsWith('standings ')) return path;
  return standingFields[Number(path)] ?? path;
}

function actorOf(found: Divergence, read: Views, line: LogLine | null): Actor | null {
  if (found.what === 'event') return ofEvent(JSON.parse(found.expected).data, read);
  if (found.what === 'record') return ofRecord(found.which!, read);
  const key = line?.entry.public_key;
  return key ? agent(agentId(key), read) : null;
}

function agent(id: string, read: Views): Actor {
  return { kind: 'agent', id, name: read.record('agents', id)?.name ?? null };
}

const other = (kind: Actor['kind'], id: string): Actor => ({ kind, id, name: null });

/** Who did it, or what it happened to. */
function ofEvent(data: Record<string, unknown>, read: Views): Actor | null {
  for (const name of ['producer', 'validator', 'agent', 'creator']) {
    const who = data[name] as { id?: string } | undefined;
    if (who?.id) return agent(who.id, read);
  }
  if (data.agent_id) return agent(String(data.agent_id), read);
  if (data.block_hash) return other('block', String(data.block_hash));
  return data.alliance_id ? other('alliance', String(data.alliance_id)) : null;
}

/** By its table and key, as replay names them. */
function ofRecord(which: string, read: Views): Actor | null {
  const [table = '', text = ''] = [
    which.slice(0, which.indexOf(' ')),
    which.slice(which.indexOf(' ')),
  ];
  const key = JSON.parse(text) as string | number | [number | string, number | string];
  const byOrdinal = (ordinal: unknown) =>
    agent(
      (read.record('agent_numbers', ordinal as number) as RecordOf['agent_numbers']).agent_id,
      read,
    );
  if (table === 'agents' || table === 'agent_states') return agent(String(key), read);
  if (table === 'standings' || table === 'agent_numbers') return byOrdinal(key);
  if (table === 'votes' || table === 'equivocations')
    return byOrdinal((key as [number, number])[1]);
  if (table === 'blocks') return other('block', String(key));
  if (table === 'alliances') return other('alliance', String(key));
  if (table === 'memes') return other('meme', String(key));
  return null;
}
