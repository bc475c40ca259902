/**
 * `folkmoot load --watch`: the page of a load run, from what its hooks tell. A thread serves the
 * page and gets a snapshot of the run while a page is open.
 */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadState } from '../../../api/view/load-state.js';
import { LiveProgress } from '../../../bench/load/live-progress.js';
import type { LoadOptions } from '../../../bench/load/options.js';
import type { LoadResult } from '../../../bench/load/result.js';
import type { SaturateHooks } from '../../../bench/load/saturation.js';
import { findPage } from '../../../bench/load/server.js';
import { resolveAddress, type WatchFlags } from '../../options/ui-server.js';
import { ListenError } from '../../output/exit.js';
import { writeStderr } from '../../output/output.js';

export interface LoadWatch {
  /** To be told of the run, beside others. */
  hooks: SaturateHooks;
  /** Aborted when the page asks for the end. */
  stop: AbortSignal;
  /** R, where it was measured before the run. */
  measured(r: number | null): void;
  /** Shows how it ended; resolves once that was seen, or nobody looks, and the page is closed. */
  end(how: LoadResult | Error): Promise<void>;
}

interface LoadWatchOptions {
  load: LoadOptions;
  search: { slo: string[]; repeat: number } | null;
  flags: WatchFlags;
  /** Aborted when the run is to end. */
  signal: AbortSignal;
}

/** Resolves when the run may begin. @throws {ListenError} where the page cannot be served. */
export async function watchLoad(options: LoadWatchOptions): Promise<LoadWatch> {
  const { load, search, flags, signal } = options;
  const paused = flags.watch === 'paused';
  let show = () => {};
  const page = await findPage(load.url);
  const run = new LiveProgress({ load, page, search, onChange: () => show() });
  if (paused) run.waits();
  const { port, host } = resolveAddress(flags);
  const thread = await PageThread.start({ host, port, load: run.state }, () => run.state);
  show = () => thread.show();
  const how = paused ? 'it waits until it is told to begin' : 'the run does not wait for it';
  writeStderr(`folkmoot: ${thread.page} shows the load run; ${how}`);
  if (paused) await aborted(AbortSignal.any([thread.resume, thread.stop, signal]));
  run.prepares('');
  return {
    hooks: run.hooks,
    stop: thread.stop,
    measured: (r) => run.measured(r),
    end(outcome) {
      if (outcome instanceof Error) run.failed(outcome);
      else run.over(outcome);
      return thread.end();
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

class PageThread {
  /** Where a browser sees it. */
  readonly page: string;
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  readonly #picture: () => LoadState;
  readonly #stop = new AbortController();
  readonly #resume = new AbortController();
  #watched = false;

  /** @throws {ListenError} where it cannot listen. */
  static async start(setting: PageSetting, picture: () => LoadState): Promise<PageThread> {
    const url = new URL('./page-thread.js', import.meta.url);
    const worker = new Worker(url, { workerData: setting });
    const exited = once(worker, 'exit');
    const [first] = (await once(worker, 'message')) as [FromPage];
    if (first.is === 'listening') return new PageThread(worker, exited, first.page, picture);
    await exited;
    throw new ListenError(first.is === 'problem' ? first.message : 'the page cannot be served');
  }

  private constructor(
    worker: Worker,
    exited: Promise<unknown>,
    page: string,
    picture: () => LoadState,
  ) {
    this.page = page;
    this.#worker = worker;
    this.#exited = exited;
    this.#picture = picture;
    worker.on('message', (message: FromPage) => this.#hear(message));
    // A run goes on without its page.
    worker.on('error', (error) => {
      this.#watched = false;
      writeStderr(`folkmoot: the page is closed: ${error.message}`);
    });
  }

  /** Aborted when the page asks for the end of the run. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted when the page lets the run begin. */
  get resume(): AbortSignal {
    return this.#resume.signal;
  }

  /** Something new can be seen. */
  show(): void {
    if (this.#watched) this.#post('show');
  }

  /** Shows the last of it; resolves once that was seen and the page is closed. */
  async end(): Promise<void> {
    this.#watched = false;
    this.#post('end');
    await this.#exited;
  }

  #post(what: ToPage['do']): void {
    this.#worker.postMessage({ do: what, load: this.#picture() } satisfies ToPage);
  }

  #hear(message: FromPage): void {
    if (message.is === 'watched') {
      this.#watched = message.watched;
      this.show();
    } else if (message.is === 'asked') {
      (message.what === 'stop' ? this.#stop : this.#resume).abort();
    }
  }
}

/** What the thread begins with. */
export interface PageSetting {
  host: string;
  port: number;
  load: LoadState;
}

/** `end`: nothing comes after it, and the thread ends once it was seen. */
export interface ToPage {
  do: 'show' | 'end';
  load: LoadState;
}

export type FromPage =
  | { is: 'listening'; page: string }
  | { is: 'problem'; message: string }
  /** Whether anybody looks: what nobody sees need not be made. */
  | { is: 'watched'; watched: boolean }
  | { is: 'asked'; what: 'resume' | 'stop' };
