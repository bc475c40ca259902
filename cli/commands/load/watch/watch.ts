/** `folkmoot load --watch`: the page of a load run, from what its hooks tell. */
import type { LoadOptions, LoadResult, SaturateHooks } from '../../../../bench/load/index.js';
import { pageOf } from '../../../../bench/load/server/target.js';
import { WatchedLoad } from '../../../../bench/load/shown/watched.js';
import { say } from '../../../output/output.js';
import { addressOf, type WatchFlags } from '../../page/door.js';
import { PageThread } from './page-thread.js';

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

export interface LoadWatchOptions {
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
  const page = await pageOf(load.url);
  const run = new WatchedLoad({ load, page, search, onChange: () => show() });
  if (paused) run.waits();
  const { port, host } = addressOf(flags);
  const thread = await PageThread.start({ host, port, load: run.shown }, () => run.shown);
  show = () => thread.show();
  const how = paused ? 'it waits until it is told to begin' : 'the run does not wait for it';
  say(`folkmoot: ${thread.page} shows the load run; ${how}`);
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
