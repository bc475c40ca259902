/** A load run that is watched: its address and token, and all that it shows until its end. */
import type { LoadAnswer, LoadState } from '../../../dist/api/view/load-state.js';
import { type Begun, begin } from '../../support/running-command.js';

export interface WatchedLoad extends Begun {
  /** Where the page is, with its token. */
  page: string;
  url: string;
  /** What is shown after a version; at once where there is none. */
  shown(after?: number): Promise<LoadAnswer>;
  /** Asks, with the token that was printed; gives the status. */
  ask(what: 'resume' | 'stop'): Promise<number>;
  /** Whatever is shown from now on, the last of it too. */
  follow(): Promise<LoadState[]>;
}

/** Begins `folkmoot load --watch`, and waits for the address of its page. */
export async function watchLoad(args: readonly string[]): Promise<WatchedLoad> {
  const begun = begin(['load', ...args]);
  const [, page = ''] = await begun.printed(/folkmoot: (http:\S+\/ui\/load#token=\S{32}) shows /);
  const { origin: url, hash } = new URL(page);
  const shown = async (after?: number) => {
    const query = after === undefined ? '' : `?after=${after}`;
    const answer = await fetch(`${url}/api/v1/load${query}`);
    return ((await answer.json()) as { data: LoadAnswer }).data;
  };
  return {
    ...begun,
    ...{ page, url, shown },
    async ask(what) {
      const headers = { Authorization: `Bearer ${hash.replace('#token=', '')}` };
      const body = JSON.stringify({ do: what });
      return (await fetch(`${url}/api/v1/control`, { method: 'POST', headers, body })).status;
    },
    async follow() {
      const all = [await shown()];
      while (!['over', 'failed'].includes(all.at(-1)!.load.phase)) {
        all.push(await shown(all.at(-1)!.version));
      }
      return all.map(({ load }) => load);
    },
  };
}
