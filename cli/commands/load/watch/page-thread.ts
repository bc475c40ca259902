/** The thread that serves the page, as the run sees it: given a picture while anybody looks. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoadShown } from '../../../../api/view/load.js';
import { ListenError } from '../../../output/exit.js';
import { say } from '../../../output/output.js';
import type { FromPage, PageSetting, ToPage } from './messages.js';

export class PageThread {
  /** Where a browser sees it. */
  readonly page: string;
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  readonly #picture: () => LoadShown;
  readonly #stop = new AbortController();
  readonly #resume = new AbortController();
  #watched = false;

  /** @throws {ListenError} where it cannot listen. */
  static async start(setting: PageSetting, picture: () => LoadShown): Promise<PageThread> {
    const url = new URL('./thread.js', import.meta.url);
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
    picture: () => LoadShown,
  ) {
    this.page = page;
    this.#worker = worker;
    this.#exited = exited;
    this.#picture = picture;
    worker.on('message', (message: FromPage) => this.#hear(message));
    // A run goes on without its page.
    worker.on('error', (error) => {
      this.#watched = false;
      say(`folkmoot: the page is closed: ${error.message}`);
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
