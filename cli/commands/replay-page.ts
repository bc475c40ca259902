/** `folkmoot replay --watch`: a page that shows a replay's progress and its first difference. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClockView, Control, ControlCommand } from '../../api/contract/control.js';
import type { DivergenceView, ProofView } from '../../api/contract/server.js';
import { KeptNetwork } from '../../engine/node/kept-network.js';
import type { Views } from '../../engine/node/views.js';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type RecordOf, standingFields } from '../../engine/protocol/schema/record.js';
import { agentId } from '../../engine/protocol/signing.js';
import type { Divergence, LogLine, ReplayedStep } from '../../engine/replay/recompute.js';
import type { ReplayOptions, ReplayResult } from '../../engine/replay/replay.js';
import { openUiServer, type WatchFlags } from '../options/ui-server.js';
import { writeStderr } from '../output/output.js';

interface WatchedReplayOptions {
  /** Last entry to recompute. */
  end: number;
  signatures: boolean;
  /** True to wait before the first entry. */
  paused: boolean;
  /** Ends the replay. */
  signal: AbortSignal;
}

/** Entries per event-loop turn, so that the page receives responses meanwhile. */
const TURN = 64;

class WatchedReplay implements Control {
  readonly kind = 'replay';
  readonly can = ['pause', 'resume'] as const;
  readonly #read: Views;
  readonly #listeners = new Set<() => void>();
  readonly #signal: AbortSignal;
  #paused: boolean;
  #wake: () => void = () => {};
  #last: ReplayedStep | null = null;
  /** Lines that were read but not yet applied, and the line applied last. */
  readonly #lines = new Map<number, LogLine>();
  #proof: ProofView;
  lost: string | null = null;

  constructor(read: Views, { end, signatures, paused, signal }: WatchedReplayOptions) {
    this.#read = read;
    this.#paused = paused;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    this.#proof = {
      ...{ state: 'running', entry: null, end, digest: null, log_digest: null },
      ...{ signatures, records_compared: false, divergence: null, problem: null },
    };
  }

  get proof(): ProofView {
    if (this.#proof.state !== 'running' || this.#last === null) return this.#proof;
    const { entry, digest, log_digest } = this.#last;
    return { ...this.#proof, entry: entry.seq, digest, log_digest };
  }

  clock(): ClockView {
    const at = formatInstant(this.#last?.entry.at ?? 0);
    const over = this.#proof.state !== 'running';
    return { holds: 'run', paused: this.#paused, speed: null, until: null, at, over };
  }

  async do({ do: what }: ControlCommand): Promise<null> {
    this.#paused = what === 'pause';
    this.#wake();
    this.#tell();
    return null;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Reports that the folder changed or disappeared. */
  lose(why: string): void {
    this.lost = why;
    this.#tell();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Yields the lines, pausing between turns. */
  paced = (lines: Iterable<LogLine>): AsyncIterable<LogLine> => this.#paced(lines);

  async *#paced(lines: Iterable<LogLine>): AsyncGenerator<LogLine> {
    for (const line of lines) {
      if (line.entry.seq % TURN === 0) await this.#turn();
      this.#signal.throwIfAborted();
      this.#lines.set(line.entry.seq, line);
      yield line;
    }
  }

  /** Records an applied entry. */
  step = (done: ReplayedStep): void => {
    this.#lines.delete(this.#last?.entry.seq ?? -1);
    this.#last = done;
  };

  finished(result: ReplayResult): void {
    const { match, entries, digest, log_digest, records_compared } = result;
    const found = result.first_divergence;
    const line = found && (this.#lines.get(found.seq) ?? null);
    this.#proof = {
      ...this.#proof,
      ...{ state: match ? 'match' : 'differs', entry: entries === 0 ? null : entries - 1 },
      ...{ digest, log_digest, records_compared },
      divergence: found && shownDivergence(found, this.#read, line),
    };
    this.#lines.clear();
    this.#tell();
  }

  failed(error: Error): void {
    this.#proof = { ...this.proof, state: 'failed', problem: error.message };
    this.#tell();
  }

  async #turn(): Promise<void> {
    await nextTurn();
    while (this.#paused && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

interface Watched {
  /** Runs `recompute` with the page's hooks, and shows its result. */
  replay(recompute: (watch: WatchedOptions) => Promise<ReplayResult>): Promise<ReplayResult>;
  close(): Promise<void>;
}

/** Serves the page for a folder. `signal` ends a running replay. */
export async function openReplayPage(
  path: string,
  flags: Flags,
  signal: AbortSignal,
): Promise<Watched> {
  // Damaged folders must be readable too.
  const network = KeptNetwork.open({
    path,
    whole: false,
    onLost(why) {
      writeStderr(`folkmoot: ${why}`);
      control?.lose(why);
    },
  });
  let control: WatchedReplay | null = null;
  try {
    const end = network.read.position;
    const to = Math.min(flags.to ?? end.seq, end.seq);
    const signatures = flags.signatures === true;
    const paused = flags.watch === 'paused';
    const how = { end: to, signatures, paused, signal };
    const shown = new WatchedReplay(network.read, how);
    control = shown;
    const server = await openUiServer(network, flags, { control: shown, proof: () => shown.proof });
    writeStderr(`folkmoot: ${server.page} shows the replay of ${path}`);
    return {
      async replay(recompute) {
        try {
          const result = await recompute({ onStep: shown.step, paced: shown.paced });
          shown.finished(result);
          return result;
        } catch (error) {
          shown.failed(error as Error);
          throw error;
        }
      },
      async close() {
        await server.close();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}

export interface Flags extends WatchFlags {
  signatures?: boolean;
  verifier: 'pool' | 'inline' | 'reference';
  to?: number;
  json?: boolean;
}

/** Hooks that the page sets. */
export interface WatchedOptions extends Pick<ReplayOptions, 'onStep'> {
  paced(lines: Iterable<LogLine>): AsyncIterable<LogLine>;
}

type Actor = NonNullable<DivergenceView['actor']>;

/** Limit on text length, in characters. Damaged data can be of any length. */
const LONGEST = 2_048;

/** @param line the entry's line, or null if unreadable. */
function shownDivergence(found: Divergence, read: Views, line: LogLine | null): DivergenceView {
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

/** Returns null on failure, because data that differs from the log can have any form. */
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

/** Returns the acting agent, or the affected object. */
function ofEvent(data: Record<string, unknown>, read: Views): Actor | null {
  for (const name of ['producer', 'validator', 'agent', 'creator']) {
    const who = data[name] as { id?: string } | undefined;
    if (who?.id) return agent(who.id, read);
  }
  if (data.agent_id) return agent(String(data.agent_id), read);
  if (data.block_hash) return other('block', String(data.block_hash));
  return data.alliance_id ? other('alliance', String(data.alliance_id)) : null;
}

/** Finds a record's owner by table and key. */
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
