/** A log that is recomputed while somebody looks: how far it is, where it differs, its pauses. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClockShown, Control, ControlCommand } from '../../../api/contract/control.js';
import type { ProofShown } from '../../../api/contract/proof.js';
import {
  formatInstant,
  type LogLine,
  type ReplayedStep,
  type ReplayResult,
  type Views,
} from '../../../engine/internal.js';
import { shownDivergence } from './divergence.js';

export interface WatchedReplayOptions {
  /** The last entry that is to be recomputed. */
  end: number;
  signatures: boolean;
  /** Whether it waits before its first entry. */
  paused: boolean;
  /** Ends it. */
  signal: AbortSignal;
}

/** Entries between two turns of the event loop: whoever looks is answered in between. */
const TURN = 64;

export class WatchedReplay implements Control {
  readonly kind = 'replay';
  readonly can = ['pause', 'resume'] as const;
  readonly #read: Views;
  readonly #listeners = new Set<() => void>();
  readonly #signal: AbortSignal;
  #paused: boolean;
  #wake: () => void = () => {};
  #last: ReplayedStep | null = null;
  /** The line that was read last, and those that were read and not applied yet. */
  readonly #lines = new Map<number, LogLine>();
  #proof: ProofShown;
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

  get proof(): ProofShown {
    if (this.#proof.state !== 'running' || this.#last === null) return this.#proof;
    const { entry, digest, log_digest } = this.#last;
    return { ...this.#proof, entry: entry.seq, digest, log_digest };
  }

  clock(): ClockShown {
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

  /** The folder that is shown is not what it was any more: whoever looks on is told why. */
  lose(why: string): void {
    this.lost = why;
    this.#tell();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The same lines, as fast as they may go. */
  paced = (lines: Iterable<LogLine>): AsyncIterable<LogLine> => this.#paced(lines);

  async *#paced(lines: Iterable<LogLine>): AsyncGenerator<LogLine> {
    for (const line of lines) {
      if (line.entry.seq % TURN === 0) await this.#turn();
      this.#signal.throwIfAborted();
      this.#lines.set(line.entry.seq, line);
      yield line;
    }
  }

  /** To be told what each entry did. */
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
