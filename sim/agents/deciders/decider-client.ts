/** Asks one decider, with limited concurrency, retries and a budget. */
import { setTimeout as delay } from 'node:timers/promises';
import { canonical } from '../../../engine/protocol/canonical.js';
import type { External } from '../../scenario/schema/strategies.js';
import type { Doing } from '../script/commands.js';
import {
  AskingEnded,
  type DeciderAdapter,
  type DeciderResponse,
  type FailureReason,
  NoAnswer,
} from './adapter.js';
import type { Key } from './cassette.js';
import type { Ledger } from './ledger.js';
import {
  type Answer,
  parseAnswer,
  parseUsage,
  plainLine,
  type Question,
  type Usage,
} from './question.js';
import type { RunCassettes } from './run-cassettes.js';

export interface DecisionResult {
  answer?: Answer;
  failure?: { reason: FailureReason; detail: string };
}

export interface ToAsk {
  question: Question;
  doing: Doing;
  /** Key in the cassette. */
  key: Key;
}

/** After this many consecutive failed questions, questions are not retried until one succeeds. */
const DOWN_AFTER = 3;
const LONGEST_BACKOFF_MS = 60_000;
/** Minimum length of a masked value. Shorter values could occur in any text. */
const SHORTEST_SECRET = 8;

interface DeciderClientOptions {
  group: string;
  strategy: External;
  adapter: DeciderAdapter;
  /** Secret values that must not be recorded. */
  secrets: readonly string[];
  ledger: Ledger;
  tapes: RunCassettes;
  signal: AbortSignal;
  onNote(note: string): void;
}

export class DeciderClient {
  readonly #options: DeciderClientOptions;
  readonly #secrets: readonly string[];
  #failed = 0;
  #answered = 0;

  constructor(options: DeciderClientOptions) {
    this.#options = options;
    this.#secrets = options.secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  }

  close(): Promise<void> {
    return this.#options.adapter.close();
  }

  /**
   * Asks all questions. Does not call `decided` for questions that exceed the budget.
   * @throws {AskingEnded} if the run was aborted. @throws {ScenarioError} if no call can succeed.
   */
  async askAll<T extends ToAsk>(
    all: readonly T[],
    decided: (asked: T, result: DecisionResult) => void,
  ): Promise<void> {
    const { lanes, atOnce } = this.#options.adapter;
    const work = async (waiting: T[], lane: number): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const result = await this.#decide(next, lane);
        if (result === null) return;
        decided(next, result);
      }
    };
    const dealt = Array.from({ length: lanes }, (): T[] => []);
    for (const one of all) dealt[one.question.agent % lanes]!.push(one);
    const workers = dealt.flatMap((waiting, lane) =>
      Array.from({ length: Math.min(atOnce, waiting.length) }, () => work(waiting, lane)),
    );
    // Wait for all calls before throwing, so that their answers can still be recorded.
    for (const end of await Promise.allSettled(workers)) {
      if (end.status === 'rejected') throw end.reason;
    }
  }

  /** Returns null if the budget is spent. */
  async #decide({ question, doing, key }: ToAsk, lane: number): Promise<DecisionResult | null> {
    const { ledger, strategy, tapes } = this.#options;
    for (let calls = 1; ; calls += 1) {
      if (ledger.findStop() !== null) return null;
      ledger.take();
      await tapes.noteCall(key);
      try {
        const answer = this.#read(await this.#call(question, lane), doing);
        this.#failed = 0;
        this.#answered += 1;
        return { answer };
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        if (error.usage) tapes.noteCall(key, error.usage).catch(() => {});
        if (calls > strategy.retries || this.#failed >= DOWN_AFTER) {
          return { failure: this.#failure(error) };
        }
        await this.#wait(Math.max(error.afterMs, backoff(strategy.backoff_ms, calls)));
      }
    }
  }

  #failure({ reason, message }: NoAnswer): NonNullable<DecisionResult['failure']> {
    const detail = this.#withoutSecrets(message);
    this.#failed += 1;
    if (this.#failed === DOWN_AFTER) {
      const { group } = this.#options;
      const since = this.#answered === 0 ? 'has not answered yet' : 'has stopped answering';
      const what = `decider of group ${group} ${since} (${reason}: ${detail})`;
      this.#options.onNote(`${what}; its agents do nothing`);
    }
    return { reason, detail };
  }

  async #call(question: Question, lane: number): Promise<DeciderResponse> {
    const { adapter, strategy, signal } = this.#options;
    const end = new AbortController();
    const stop = () => end.abort();
    const timer = setTimeout(stop, strategy.timeout_ms);
    signal.addEventListener('abort', stop);
    try {
      if (signal.aborted) throw new AskingEnded('run aborted');
      return await adapter.ask(question, lane, end.signal);
    } catch (error) {
      if (signal.aborted) throw new AskingEnded('run aborted');
      if (!end.signal.aborted) throw error;
      throw new NoAnswer('TIMEOUT', { ms: strategy.timeout_ms });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Reads an answer. Token counts from the protocol take precedence over counts in the answer. */
  #read({ value, usage = claimedUsage(value) }: DeciderResponse, doing: Doing): Answer {
    let answer: Answer;
    try {
      answer = { ...parseAnswer(value, doing), ...(usage ? { usage } : {}) };
    } catch (error) {
      throw new NoAnswer('INVALID_ANSWER', { detail: plainLine(error) }, { usage });
    }
    const text = canonical(answer);
    if (this.#withoutSecrets(text) === text) return answer;
    throw new NoAnswer('LEAKED_SECRET', {}, { usage });
  }

  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((left, secret) => left.replaceAll(secret, '[key]'), text);
  }

  async #wait(ms: number): Promise<void> {
    const { signal } = this.#options;
    await delay(ms, undefined, { signal }).catch((cause: unknown) => {
      throw new AskingEnded('run aborted', { cause });
    });
  }
}

/** Returns the token counts claimed in an answer, even if the rest of the answer is unusable. */
function claimedUsage(value: unknown): Usage | undefined {
  const { usage } = (value ?? {}) as { usage?: unknown };
  const { input_tokens, output_tokens } = (usage ?? {}) as Record<string, unknown>;
  return parseUsage(input_tokens, output_tokens);
}

/** Computes the delay before a retry, which doubles with each call. */
const backoff = (first: number, calls: number): number =>
  Math.min(first * (1 << (calls - 1)), LONGEST_BACKOFF_MS);
