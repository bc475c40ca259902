/**
 * The cassettes of a run: the one that answers are taken from, and its own, to which every answer
 * is added as it comes. A run that was killed goes on from its own.
 */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { StoreError } from '../../../engine/store/store.js';
import { WholeFile } from '../../../report/folder.js';
import { DeciderError } from './adapter.js';
import {
  type CallCost,
  Cassette,
  formatLine,
  type Header,
  type Key,
  type Recorded,
} from './cassette.js';

interface RunCassettesOptions {
  header: Header;
  /** A cassette or a run's folder: answers are taken from there. */
  cassette?: string | undefined;
  /** What no cassette holds is asked. */
  record: boolean;
  /** The run's own cassette; left out, none is kept. */
  keep?: string | undefined;
  onNote(note: string): void;
}

export class RunCassettes {
  readonly #options: RunCassettesOptions;
  readonly #source: Cassette | null;
  #own: Cassette | null;
  /** In the order in which they were asked. */
  readonly #used: Key[] = [];

  private constructor(options: RunCassettesOptions, source: Cassette | null, own: Cassette | null) {
    this.#options = options;
    this.#source = source;
    this.#own = own;
  }

  /** @throws {StoreError} when a cassette is of something else, damaged or cut off. */
  static open(options: RunCassettesOptions): RunCassettes {
    const { cassette, keep, record, header } = options;
    const source = cassette === undefined ? null : Cassette.open(cassette);
    try {
      if (source) checkSource(source, options);
      if (keep !== undefined && existsSync(keep)) {
        return new RunCassettes(options, source, resumed(keep, options));
      }
      // From now on the run can be gone on with, whatever ends it.
      const begun = keep !== undefined && record ? Cassette.create(keep, header) : null;
      return new RunCassettes(options, source, begun);
    } catch (error) {
      source?.close();
      throw error;
    }
  }

  /** What was recorded for a question; its place in the run is the next one. */
  take(key: Key): Recorded | null {
    this.#used.push(key);
    const own = this.#own?.find(key);
    if (own) return own;
    const found = this.#source?.find(key) ?? null;
    if (found) this.add(found);
    return found;
  }

  add(record: Recorded): void {
    const { keep, header } = this.#options;
    if (keep === undefined) return;
    this.#own ??= Cassette.create(keep, header);
    this.#own.append(record);
  }

  /** Resolves when a call for the question is on disk: it is counted even if the process dies. */
  async begin(call: Key): Promise<void> {
    await this.#own!.appendCall({ call });
  }

  /** Counts the tokens of a call without a usable answer. */
  wasted(call: Key, unusable: NonNullable<Recorded['unusable']>): void {
    this.#own!.appendCall({ call, unusable }).catch(() => {});
  }

  costOf(key: Key): CallCost {
    return this.#own!.costOf(key);
  }

  async durable(): Promise<void> {
    await this.#own?.durable();
  }

  /** A question that no cassette answers, where nobody may be asked. */
  unanswered(key: Key, view: unknown): DeciderError {
    const { agent, kind, number } = key;
    const near = this.#source?.near(key) ?? null;
    const where = this.#source?.path ?? 'the cassette';
    const what = `agent ${agent} is asked for ${kind} ${number} (from 0), and ${where}`;
    const advice = '--record asks its decider';
    if (!near) return new DeciderError(`${what} has no answer to it: ${advice}`);
    if (near.decider !== key.decider) {
      return new DeciderError(`${what} has the answer of another decider: ${advice}`);
    }
    const path = difference(near.view, view) ?? '';
    return new DeciderError(`${what} has the answer to another view (${path} differs): ${advice}`);
  }

  /** Its own cassette, whole, in the order in which questions were asked. */
  async finish(): Promise<void> {
    const { keep, header } = this.#options;
    if (keep === undefined) return;
    await this.durable();
    const file = new WholeFile(dirname(keep), basename(keep));
    try {
      const first = formatLine('', header);
      file.write(first.line);
      let { sum } = first;
      for (const key of this.#used) {
        const next = formatLine(sum, this.#own!.find(key)!);
        file.write(next.line);
        sum = next.sum;
      }
      file.write(formatLine(sum, { end: this.#used.length }).line);
      // Some systems rename nothing over a file that is open.
      this.close();
      file.finish();
    } catch (error) {
      file.abandon();
      throw error;
    }
  }

  close(): void {
    this.#source?.close();
    this.#own?.close();
    this.#own = null;
  }
}

const same = (a: Header, b: Header) => a.scenario === b.scenario && a.seed === b.seed;

const shown = ({ scenario, seed }: Header) => `${scenario.slice(0, 16)} with seed ${seed}`;

/** Offline all of it must be there; to ask on from it, only what fits is taken. */
function checkSource(source: Cassette, { header, record, onNote }: RunCassettesOptions): void {
  const { path, records, ended, torn } = source;
  const other = `${path} is of the scenario ${shown(source.header)}, not ${shown(header)}`;
  if (record) {
    if (!same(source.header, header)) onNote(`${other}: what still fits is taken`);
    return;
  }
  if (!same(source.header, header)) {
    const scenarios = { found: shown(source.header), expected: shown(header) };
    throw new StoreError('CASSETTE_OF_OTHER_SCENARIO', { path, ...scenarios });
  }
  if (ended) return;
  const reason = torn > 0 ? `${torn} bytes of a partial record` : 'no end';
  throw new StoreError('CASSETTE_INCOMPLETE', { path, record: records, reason });
}

function resumed(keep: string, { header, onNote }: RunCassettesOptions): Cassette {
  const own = Cassette.open(keep);
  own.close();
  // A cassette without an answer does not reserve its folder for its scenario.
  if (own.records === 0 && !same(own.header, header)) return Cassette.create(keep, header);
  if (!same(own.header, header)) {
    const scenarios = { found: shown(own.header), expected: shown(header) };
    throw new StoreError('CASSETTE_IN_OUTPUT', { path: keep, ...scenarios });
  }
  if (own.records > 0) onNote(`${keep} has ${own.records} answers: they are not asked for again`);
  if (own.openCalls > 0) {
    const what = `${own.openCalls} calls of an earlier process have no recorded answer`;
    onNote(`${keep}: ${what}; they are counted, their tokens are not known`);
  }
  return Cassette.open(keep, true);
}

/** Where two values differ first, as a JSON Pointer; null where they are the same. */
function difference(a: unknown, b: unknown): string | null {
  if (Object.is(a, b)) return null;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return '';
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  for (const key of keys) {
    const of = (value: object) => (value as Record<string, unknown>)[key];
    const inside = difference(of(a), of(b));
    if (inside !== null) return `/${key}${inside}`;
  }
  return null;
}
