/** The page of a load run, served by a thread that gets snapshots only while a browser is open. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadState } from '../../../api/contract/load.js';
import { LiveProgress } from '../../../bench/load/live-progress.js';
import type { LoadOptions } from '../../../bench/load/options.js';
import type { LoadResult } from '../../../bench/load/result.js';
import type { SaturateHooks } from '../../../bench/load/saturation.js';
import { findPage } from '../../../bench/load/server.js';
import { resolveAddress, type WatchFlags } from '../../options/ui-server.js';
import { aborted, listenError } from '../../output/exit.js';
import { writeStderr } from '../../output/output.js';

export interface LoadWatch {
  hooks: SaturateHooks;
  stop: AbortSignal;
  /** Shows the end of the run. Resolves once open pages show it and the server is closed. */
  end(how: LoadResult | Error): Promise<void>;
}

interface LoadWatchOptions {
  load: LoadOptions;
  search: { slo: string[]; repeat: number } | null;
  flags: WatchFlags;
  /** Ends the run. */
  signal: AbortSignal;
}

/** Serves the page, and resolves when the run may start. @throws {Failure} */
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
  const how = paused ? 'start the run there' : 'the run starts now';
  writeStderr(`folkmoot: ${thread.page} shows the load run; ${how}`);
  if (paused) await aborted(AbortSignal.any([thread.resume, thread.stop, signal]));
  run.prepares('');
  return {
    hooks: run.hooks,
    stop: thread.stop,
    end(outcome) {
      if (outcome instanceof Error) run.failed(outcome);
      else run.over(outcome);
      return thread.end();
    },
  };
}

class PageThread {
  /** Address for a browser. */
  readonly page: string;
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  readonly #snapshot: () => LoadState;
  readonly #stop = new AbortController();
  readonly #resume = new AbortController();
  #watched = false;

  /** @throws {Failure} */
  static async start(setting: PageSetting, snapshot: () => LoadState): Promise<PageThread> {
    const url = new URL('./page-thread.js', import.meta.url);
    const worker = new Worker(url, { workerData: setting });
    const exited = once(worker, 'exit');
    const [first] = (await once(worker, 'message')) as [FromPage];
    if (first.is === 'listening') return new PageThread(worker, exited, first.page, snapshot);
    await exited;
    throw first.is === 'problem'
      ? listenError('CANNOT_SERVE', { reason: first.message })
      : listenError('CANNOT_SERVE_PAGE');
  }

  private constructor(
    worker: Worker,
    exited: Promise<unknown>,
    page: string,
    snapshot: () => LoadState,
  ) {
    this.page = page;
    this.#worker = worker;
    this.#exited = exited;
    this.#snapshot = snapshot;
    worker.on('message', (message: FromPage) => this.#hear(message));
    // The run continues without the page.
    worker.on('error', (error) => {
      this.#watched = false;
      writeStderr(`folkmoot: page closed: ${error.message}`);
    });
  }

  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Signal that aborts when the page starts the run. */
  get resume(): AbortSignal {
    return this.#resume.signal;
  }

  /** Sends a snapshot if a browser has the page open. */
  show(): void {
    if (this.#watched) this.#post('show');
  }

  /** Sends the last snapshot. Resolves once open pages show it and the server is closed. */
  async end(): Promise<void> {
    this.#watched = false;
    this.#post('end');
    await this.#exited;
  }

  #post(what: ToPage['do']): void {
    this.#worker.postMessage({ do: what, load: this.#snapshot() } satisfies ToPage);
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

export interface PageSetting {
  host: string;
  port: number;
  load: LoadState;
}

/** `end` is the last message. The thread exits once open pages have received the snapshot. */
export interface ToPage {
  do: 'show' | 'end';
  load: LoadState;
}

export type FromPage =
  | { is: 'listening'; page: string }
  | { is: 'problem'; message: string }
  /** `watched` is true while a browser has the page open. */
  | { is: 'watched'; watched: boolean }
  | { is: 'asked'; what: 'resume' | 'stop' };
