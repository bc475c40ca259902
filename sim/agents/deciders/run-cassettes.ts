/**
 * A run's cassettes: an optional source of answers, and the run's own cassette, to which every
 * answer is appended. A killed run continues from its own cassette. A cache has answers of other
 * runs.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical, jsonDifference } from '../../../engine/protocol/canonical.js';
import { describeSystemError } from '../../../engine/protocol/messages.js';
import { parseUnique } from '../../../engine/protocol/repeated-members.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { storeError } from '../../../engine/store/messages.js';
import { WholeFile, writeWhole } from '../../../report/folder.js';
import { type DeciderError, deciderError } from './adapter.js';
import {
  type CallCost,
  Cassette,
  formatLine,
  type Header,
  type Key,
  type Recorded,
} from './cassette.js';
import { cassetteError } from './messages.js';
import { Answer } from './question.js';

interface RunCassettesOptions {
  header: Header;
  /** Cassette or run folder to answer from. */
  cassette?: string | undefined;
  /** Ask the decider if the cassette has no answer. */
  record: boolean;
  /** Path of the run's cassette. If absent, nothing is recorded. */
  keep?: string | undefined;
  /** Folder with answers of other runs, used only with `record`. */
  cache?: string | undefined;
  onNote(note: string): void;
}

export class RunCassettes {
  readonly #options: RunCassettesOptions;
  readonly #source: Cassette | null;
  #own: Cassette | null;
  readonly #cache: AnswerCache | null;
  /** Keys in question order. */
  readonly #used: Key[] = [];

  private constructor(options: RunCassettesOptions, source: Cassette | null, own: Cassette | null) {
    this.#options = options;
    this.#source = source;
    this.#own = own;
    const { cache, record, header } = options;
    this.#cache = cache === undefined || !record ? null : new AnswerCache(cache, header.seed);
  }

  /** @throws {StoreError} if a cassette is damaged, incomplete or from a different scenario. */
  static open(options: RunCassettesOptions): RunCassettes {
    const { cassette, keep, record, header } = options;
    const source = cassette === undefined ? null : Cassette.open(cassette);
    try {
      if (source) assertSource(source, options);
      if (keep !== undefined && existsSync(keep)) {
        return new RunCassettes(options, source, resumed(keep, options));
      }
      // Create the cassette now, so that an interrupted run can be continued.
      const begun = keep !== undefined && record ? Cassette.create(keep, header) : null;
      return new RunCassettes(options, source, begun);
    } catch (error) {
      source?.close();
      throw error;
    }
  }

  /**
   * Returns the known answer, and adds the question to the run's sequence.
   * @param isUsable checks an answer of the cache, whose files have no checksum.
   */
  take(key: Key, view: unknown, isUsable: (answer: Answer) => boolean): Recorded | null {
    this.#used.push(key);
    const own = this.#own?.find(key);
    const known = own ?? this.#source?.find(key) ?? null;
    // A process may have been killed after it recorded an answer, before it cached the answer.
    if (known && this.#cache && !this.#cache.find(key, view)) this.#cache.keep(known);
    const cached = known ? null : (this.#cache?.find(key, view) ?? null);
    const found = known ?? (cached && isUsable(cached.answer!) ? cached : null);
    if (found && !own) this.add(found);
    return found;
  }

  add(record: Recorded): void {
    const { keep, header } = this.#options;
    if (keep === undefined) return;
    this.#own ??= Cassette.create(keep, header);
    this.#own.append(record).catch(() => {});
    if (!record.cached) this.#cache?.keep(record);
  }

  /**
   * Notes a call, or the tokens of a call without a usable answer. Resolves when the note is on
   * disk, so that the call counts even if the process is killed.
   */
  async noteCall(call: Key, unusable?: Recorded['unusable']): Promise<void> {
    await this.#own!.append(unusable ? { call, unusable } : { call });
  }

  costOf(key: Key): CallCost {
    return this.#own!.costOf(key);
  }

  async durable(): Promise<void> {
    await this.#own?.durable();
  }

  /** Describes a question without a recorded answer. */
  unanswered(key: Key, view: unknown): DeciderError {
    const { agent, kind, number } = key;
    const near = this.#source?.near(key) ?? null;
    const cassette = this.#source?.path ?? 'the cassette';
    const values = { question: `agent ${agent}, ${kind} ${number}`, cassette };
    if (!near) return deciderError('NO_RECORD', values);
    if (near.decider !== key.decider) return deciderError('OTHER_DECIDER', values);
    const path = jsonDifference(near.view, view)?.path ?? '';
    return deciderError('OTHER_VIEW', { ...values, path });
  }

  /** Rewrites the run's cassette in question order. */
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
      // Close the file first, because some systems cannot replace an open file.
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

/** Checks the source, which must be complete and from this scenario unless `record` is set. */
function assertSource(source: Cassette, { header, record, onNote }: RunCassettesOptions): void {
  const { path, records, ended, torn } = source;
  const other = `${path} is of scenario ${shown(source.header)}, not ${shown(header)}`;
  if (record) {
    if (!same(source.header, header)) onNote(`${other}; matching answers are reused`);
    return;
  }
  if (!same(source.header, header)) {
    const scenarios = { found: shown(source.header), expected: shown(header) };
    throw cassetteError('CASSETTE_OF_OTHER_SCENARIO', { path, ...scenarios });
  }
  if (ended) return;
  const reason = torn > 0 ? `${torn} bytes of a partial record` : 'no end';
  throw cassetteError('CASSETTE_INCOMPLETE', { path, record: records, reason });
}

function resumed(keep: string, { header, onNote }: RunCassettesOptions): Cassette {
  const own = Cassette.open(keep);
  own.close();
  // A cassette without answers can be replaced.
  if (own.records === 0 && !same(own.header, header)) return Cassette.create(keep, header);
  if (!same(own.header, header)) {
    const scenarios = { found: shown(own.header), expected: shown(header) };
    throw cassetteError('CASSETTE_IN_OUTPUT', { path: keep, ...scenarios });
  }
  if (own.records > 0) onNote(`${keep} has ${own.records} answers; they are reused`);
  if (own.openCalls > 0) {
    const what = `${own.openCalls} calls of an earlier process have no recorded answer`;
    onNote(`${keep}: ${what}; they are counted, but their tokens are unknown`);
  }
  return Cassette.open(keep, true);
}

/*
 * Cache of answers across runs: one file for each answer. Its name is a hash of the decider (its
 * model, prompts and parameters), of everything that the question shows, and of the draw: the seed
 * of the run and the question's place in the run. A repetition with another seed is another draw,
 * so it is asked again and never gets an earlier answer. Failures are not cached.
 */

const Cached = Type.Object(
  {
    format: Type.Literal('folkmoot-answer-1'),
    key: Type.String(),
    answer: Type.Object(Answer.properties, { additionalProperties: false }),
  },
  { additionalProperties: false },
);
const checkCached = validator('cached_answer', Cached);

class AnswerCache {
  readonly #folder: string;
  readonly #seed: string;

  constructor(folder: string, seed: string) {
    this.#folder = folder;
    this.#seed = seed;
  }

  /** Returns the record of a cached answer, or null. A damaged file counts as absent. */
  find(key: Key, view: unknown): Recorded | null {
    const name = this.#nameOf(key);
    let found: unknown;
    try {
      found = parseUnique(readFileSync(this.#pathOf(name), 'utf8'));
    } catch {
      return null;
    }
    if (checkCached(found) || (found as Static<typeof Cached>).key !== name) return null;
    const { answer } = found as Static<typeof Cached>;
    return { ...key, view, calls: 0, cached: true, answer };
  }

  keep({ answer, ...record }: Recorded): void {
    if (!answer) return;
    const name = this.#nameOf(record);
    const path = this.#pathOf(name);
    try {
      mkdirSync(dirname(path), { recursive: true });
      const cached = { format: 'folkmoot-answer-1', key: name, answer };
      writeWhole(dirname(path), `${name}.json`, `${canonical(cached)}\n`);
    } catch (cause) {
      throw storeError('FILE_UNWRITABLE', { path, reason: describeSystemError(cause) }, { cause });
    }
  }

  #nameOf({ agent, kind, number, decider, saw }: Key): string {
    return sha256Hex(canonical({ agent, kind, number, decider, saw, seed: this.#seed }));
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), `${name}.json`);
  }
}
