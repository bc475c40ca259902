/** A watched load run: address, token, and states until the end. */
import type { LoadAnswer, LoadState } from '../../../dist/api/contract/load.js';
import { type Begun, begin } from '../../support/running-command.js';

export interface WatchedLoad extends Begun {
  /** Address of the page, with its token. */
  page: string;
  url: string;
  /** Returns the state after a version, or the current state. */
  shown(after?: number): Promise<LoadAnswer>;
  /** Sends a control command with the token and returns the status. */
  ask(what: 'resume' | 'stop'): Promise<number>;
  /** Collects all states from now until the end. */
  follow(): Promise<LoadState[]>;
}

/** Starts `folkmoot load --watch` and waits for the address of its page. */
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
