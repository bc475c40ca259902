/**
 * Ledger of what the answers of external deciders cost, against the limits of the scenario.
 *
 * Limits of an agent and of a decision are part of the experiment: when one is reached, the agent
 * gives no more answers. They count all answers in order of the questions, so a repetition from a
 * cassette ends in the same way. Limits of a run and of a study only stop it, so that it can be
 * continued; they count an answer when it arrives. Answers from a cache cost nothing.
 *
 * A decider that reports no tokens is charged for the text: a token for each four bytes.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { canonical } from '../../../engine/protocol/canonical.js';
import { describeSystemError } from '../../../engine/protocol/messages.js';
import { storeError } from '../../../engine/store/messages.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Budget, Limit } from '../../scenario/schema/study.js';
import type { Recorded } from './cassette.js';

/** Tokens, input and output together, and money. */
export interface Amount {
  tokens: number;
  money: number;
}

interface TokenCount {
  input: number;
  output: number;
}

const BYTES_PER_TOKEN = 4;
const MILLION = 1_000_000;

/** Name under which the price of a decider is stated. */
export const modelOf = (strategy: { model?: string | undefined }): string =>
  strategy.model ?? 'other';

/** Returns a function that computes the price of tokens; null if the model has no price. */
export function priceOf(
  budget: Budget | undefined,
  model: string,
): ((count: TokenCount) => number) | null {
  const { prices = {} } = budget ?? {};
  if (!Object.hasOwn(prices, model)) return null;
  const { input, output } = prices[model]!;
  return (count) => (count.input * input + count.output * output) / MILLION;
}

/** Returns the cost of an answer, from its record alone. */
export function amountOf(
  { calls, view, answer, unusable }: Recorded,
  price: ReturnType<typeof priceOf>,
): Amount {
  const { usage } = answer ?? {};
  const bytes = (value: unknown) => Math.ceil(canonical(value).length / BYTES_PER_TOKEN);
  const count =
    usage || unusable
      ? {
          input: (usage?.input_tokens ?? 0) + (unusable?.input_tokens ?? 0),
          output: (usage?.output_tokens ?? 0) + (unusable?.output_tokens ?? 0),
        }
      : // A cached answer has no calls, but the limits of agents count it like any other.
        {
          input: (answer ? Math.max(1, calls) : calls) * bytes(view),
          output: answer ? bytes(answer) : 0,
        };
  return { tokens: count.input + count.output, money: price ? price(count) : 0 };
}

/**
 * Returns the scenario without the limits that only stop a run. A run, and the runs of a sweep,
 * keep their identity when such a limit is raised.
 */
export function withoutStops<S extends Pick<Scenario, 'budget'>>(scenario: S): S {
  const { budget, ...rest } = scenario;
  if (!budget) return scenario;
  const { run: _, study: __, ...kept } = budget;
  const isUsed = kept.agent !== undefined || kept.decision !== undefined;
  return (isUsed ? { ...rest, budget: kept } : rest) as S;
}

const isOver = ({ tokens, money }: Amount, limit: Limit | undefined): boolean =>
  tokens >= (limit?.tokens ?? Number.POSITIVE_INFINITY) ||
  money >= (limit?.money ?? Number.POSITIVE_INFINITY);

interface LedgerOptions {
  budget: Budget | undefined;
  /** Maximum number of calls by this process. */
  mostCalls: number;
  /** File in which all runs of a study note what they spend. */
  spending?: string | undefined;
  onCall: (made: number) => void;
}

export class Ledger {
  /** Calls made by this process. */
  made = 0;
  readonly #options: LedgerOptions;
  readonly #study: SpendingFile | null;
  readonly #run: Amount = { tokens: 0, money: 0 };
  /** Like `#run`, but summed in order of the questions, so that repetitions give equal sums. */
  #spent: Readonly<Amount> = { tokens: 0, money: 0 };
  /** Amounts by agent and by decision. */
  readonly #sums = new Map<string, Amount>();

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#study = options.spending === undefined ? null : new SpendingFile(options.spending);
  }

  /** Cost of all answers of the run, without those from a cache. */
  get spent(): Readonly<Amount> {
    return this.#spent;
  }

  /** Returns the limit that stops the run, or null. */
  findStop(): string | null {
    const { budget, mostCalls } = this.#options;
    if (this.made >= mostCalls) return '--most-calls';
    if (isOver(this.#run, budget?.run)) return 'budget.run';
    if (budget?.study && this.#study && isOver(this.#study.total(), budget.study)) {
      return 'budget.study';
    }
    return null;
  }

  take(): void {
    this.made += 1;
    this.#options.onCall(this.made);
  }

  /** Returns the limit that ends the answers of an agent, or about a block, or null. */
  findLimit(agent: number, decision: string | null): string | null {
    const { budget } = this.#options;
    const at = (key: string) => this.#sums.get(key) ?? { tokens: 0, money: 0 };
    if (isOver(at(`agent ${agent}`), budget?.agent)) return 'budget.agent';
    if (decision === null || !isOver(at(`block ${decision}`), budget?.decision)) return null;
    return 'budget.decision';
  }

  /** Charges an answer to its agent and block, in question order. @param isFree if from a cache. */
  charge(agent: number, decision: string | null, amount: Amount, isFree: boolean): void {
    if (!isFree) this.#spent = added(this.#spent, amount);
    const keys = [`agent ${agent}`, ...(decision === null ? [] : [`block ${decision}`])];
    for (const key of keys) this.#sums.set(key, added(this.#sums.get(key), amount));
  }

  /** Counts an answer of the run. @param isNew true if this process paid for the answer. */
  pay(amount: Amount, isNew: boolean): void {
    Object.assign(this.#run, added(this.#run, amount));
    if (isNew) this.#study?.append(amount);
  }

  close(): void {
    this.#study?.close();
  }
}

const added = (sum: Amount = { tokens: 0, money: 0 }, { tokens, money }: Amount): Amount => ({
  tokens: sum.tokens + tokens,
  money: sum.money + money,
});

/** File in the folder of a sweep, to which its runs append what they pay, in any order. */
export const SPENDING_FILE = 'spending.log';

/** A link could lead the notes of a sweep into a file outside its folder. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDONLY, O_RDWR } = constants;
const TO_APPEND = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;

/**
 * Spending of several processes. Each answer is one line, appended at once, so that processes need
 * no lock and a killed process loses at most the answer that it was about to note.
 */
class SpendingFile {
  readonly #file: number;
  readonly #sum: Amount = { tokens: 0, money: 0 };
  #offset = 0;
  #rest = '';

  /** @param flags `O_RDONLY` to read only. */
  constructor(path: string, flags = TO_APPEND) {
    try {
      this.#file = openSync(path, flags, 0o600);
    } catch (cause) {
      const key = flags === O_RDONLY ? 'FILE_UNREADABLE' : 'FILE_UNWRITABLE';
      throw storeError(key, { path, reason: describeSystemError(cause) }, { cause });
    }
  }

  append({ tokens, money }: Amount): void {
    writeSync(this.#file, `${tokens} ${money}\n`);
  }

  /** Sums the lines of all processes so far. */
  total(): Amount {
    const { size } = fstatSync(this.#file);
    const bytes = Buffer.alloc(Math.max(0, size - this.#offset));
    const read = readSync(this.#file, bytes, 0, bytes.length, this.#offset);
    this.#offset += read;
    const lines = (this.#rest + bytes.toString('latin1', 0, read)).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const [tokens = 0, money = 0] = line.split(' ').map(Number);
      if (Number.isFinite(tokens + money))
        Object.assign(this.#sum, added(this.#sum, { tokens, money }));
    }
    return this.#sum;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Sums what the runs of a sweep have paid. */
export function readSpending(path: string): Amount {
  const file = new SpendingFile(path, O_RDONLY);
  const total = { ...file.total() };
  file.close();
  return total;
}
