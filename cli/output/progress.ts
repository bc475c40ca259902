/** Progress on standard error: a bar on a terminal, or elsewhere one line per tenth. */
import { createRequire } from 'node:module';
import type { Progress } from '../../sim/index.js';
import { io } from './io.js';
import { canRedraw, isStructured, writeMessage, writeStderr } from './output.js';

export interface ProgressDisplay<T> {
  update(at: T): void;
  stop(): void;
}

interface DisplayOptions<T> {
  /** Value of `done` at the last update. */
  total: number;
  done(at: T): number;
  /** Format of the text after the bar, in cli-progress syntax, with the names in `fields`. */
  format: string;
  fields(at: T): object;
  /** Initial state. If omitted, the bar appears at the first update. */
  first?: T;
  /** Returns the text shown without a bar, or null for no line. */
  line(at: T, tenth: number): string | null;
}

/** Shows a simulation's blocks and votes. */
export function showProgress(): ProgressDisplay<Progress> {
  return show<Progress>({
    total: 1,
    done: ({ done }) => done,
    format: '{percentage}% | {closed} blocks | {votes} votes{asked} | {duration_formatted}',
    fields: ({ closed, votes, calls }) => ({ closed, votes, asked: asked(calls, ' |') }),
    first: { done: 0, closed: 0, votes: 0, virtualMs: 0, seq: 0, digest: '' },
    line: ({ closed, votes, calls, seq, digest }, tenth) => {
      if (tenth === 0) return null;
      // After a crash, the log contains at least these entries. A run on a server has no digest,
      // because the server keeps the log.
      const durable = digest === '' ? '' : `, durable to entry ${seq} digest ${digest}`;
      return `${tenth}0 %: ${closed} blocks, ${votes} votes${asked(calls, ',')}${durable}`;
    },
  });
}

const asked = (calls: number | undefined, before: string): string =>
  calls === undefined ? '' : `${before} ${calls} calls`;

/**
 * Shows a count and the estimated time left.
 *
 * @param first initial total, which `update` can raise.
 * @param what plural noun of the items.
 * @param jobs number of items in progress at the same time.
 */
export function showCount(first: number, what: string, jobs = 1): CountDisplay {
  const at: Counted = { done: 0, of: first, left: '' };
  const estimate = new TimeLeft(jobs);
  const display = show<Counted>({
    total: 1,
    done: ({ done, of }) => (of === 0 ? 1 : done / of),
    format: `{done}/{of} ${what}{left}`,
    fields: ({ done, of, left }) => ({ done, of, ...(isStructured() ? { what } : { left }) }),
    line: ({ done, of, left }) => `${done}/${of} ${what}${left}`,
  });
  return {
    update(done, of = at.of) {
      const leftMs = estimate.update(done, of);
      const left = leftMs === null || leftMs < 10_000 ? '' : `, about ${roughTime(leftMs)} left`;
      Object.assign(at, { done, of, left });
      display.update(at);
    },
    stop: display.stop,
  };
}

interface Counted {
  done: number;
  of: number;
  /** Text with the time left, or empty. */
  left: string;
}

export interface CountDisplay {
  update(done: number, of?: number): void;
  stop(): void;
}

/**
 * Estimates the time until parallel workers have done all items. The rate since the start would be
 * wrong in the first wave, whose items end together, and in the last one, in which workers idle.
 * This class assumes that the oldest item in progress ends first, so items of unequal duration
 * count by their mean.
 */
export class TimeLeft {
  readonly #jobs: number;
  readonly #now: () => number;
  /** Start times of the items in progress, oldest first. */
  readonly #started: number[] = [];
  /** Items done. Null before the first update, since items done by then took no time. */
  #done: number | null = null;
  /** Worker time of recent items, in milliseconds, and their number. */
  #spentMs = 0;
  #count = 0;

  /** @param now monotonic clock in milliseconds. */
  constructor(jobs: number, now: () => number = () => performance.now()) {
    this.#jobs = Math.max(1, jobs);
    this.#now = now;
  }

  /** Records that `done` of `of` items are done. Returns milliseconds; null if unknown. */
  update(done: number, of: number): number | null {
    const at = this.#now();
    const ended = Math.max(0, done - (this.#done ?? done));
    this.#done = done;
    for (const start of this.#started.splice(0, ended)) this.#spentMs += at - start;
    this.#count += ended;
    // Recent items count more, because the duration may depend on the place in a design.
    if (this.#count > Math.max(50, 4 * this.#jobs)) {
      this.#spentMs /= 2;
      this.#count /= 2;
    }
    const open = Math.max(0, of - done);
    this.#started.length = Math.min(this.#started.length, open);
    while (this.#started.length < Math.min(this.#jobs, open)) this.#started.push(at);
    if (this.#count === 0 || open === 0) return null;
    return this.#makespan(this.#spentMs / this.#count, open, at);
  }

  /** Time until the last of `open` items ends, if each takes `eachMs` of its worker. */
  #makespan(eachMs: number, open: number, at: number): number {
    const waiting = open - this.#started.length;
    const waves = Math.floor(waiting / this.#jobs);
    // When each worker has its last items but one.
    // An item that is overdue is expected to take as long again.
    const ends = this.#started.map((start) => Math.abs(eachMs - (at - start)));
    ends.sort((a, b) => a - b);
    const rest = waiting - waves * this.#jobs;
    const last = rest > 0 ? ends[rest - 1]! + eachMs : 0;
    return waves * eachMs + Math.max(last, ends.at(-1)!);
  }
}

/** Formats a duration roughly, such as `12 min`. */
export function roughTime(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1_000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function show<T>(options: DisplayOptions<T>): ProgressDisplay<T> {
  if (isStructured()) return messages(options);
  return canRedraw() ? bar(options) : lines(options);
}

/** Milliseconds between two messages. */
const MESSAGE_MS = 100;

function messages<T>({ total, done, fields }: DisplayOptions<T>): ProgressDisplay<T> {
  let before = Number.NEGATIVE_INFINITY;
  return {
    update(at) {
      const now = performance.now();
      const share = done(at) / total;
      if (now - before < MESSAGE_MS && share < 1) return;
      before = now;
      writeMessage({ type: 'progress', share, ...fields(at) });
    },
    stop() {},
  };
}

/** Loads cli-progress on demand, because it pulls in twenty modules. */
const load = () => createRequire(import.meta.url)('cli-progress') as typeof import('cli-progress');

/** Bar width in columns. The text after the bar needs the rest of an 80-column terminal. */
const BAR = 24;

function bar<T>({ total, done, format, fields, first }: DisplayOptions<T>): ProgressDisplay<T> {
  const { Presets, SingleBar } = load();
  const drawn = new SingleBar(
    { format: ` {bar} ${format}`, stream: io().stderr, etaBuffer: 50, barsize: BAR },
    Presets.shades_classic,
  );
  let started = false;
  const update = (at: T) => {
    if (started) drawn.update(done(at), fields(at));
    else drawn.start(total, done(at), fields(at));
    started = true;
  };
  if (first !== undefined) update(first);
  return { update, stop: () => drawn.stop() };
}

function lines<T>({ total, done, line }: DisplayOptions<T>): ProgressDisplay<T> {
  let tenths = -1;
  return {
    update(at) {
      const reached = Math.floor((10 * done(at)) / total);
      if (reached === tenths) return;
      tenths = reached;
      const text = line(at, reached);
      if (text !== null) writeStderr(text);
    },
    stop() {},
  };
}
