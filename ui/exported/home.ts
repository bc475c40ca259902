/** The page in a file: places are in the query, and a worker of the file answers what is asked. */
import type { About } from '../../api/view/kept.js';
import { shown } from '../../report/shared/numbers.js';
import { ask } from '../data/connect.js';
import type { Home, Place } from '../home/home.js';
import { trusted } from '../home/trusted.js';
import { plain } from '../parts/text.js';
import type { Answered } from './answers.js';

/** What of the file is there when the page begins. */
export interface Parts {
  /** The worker's script. */
  player: Blob;
  run: ArrayBuffer;
}

/** @param about the run */
export function homeIn(about: About, { player, run }: Parts): Home {
  const policy = trusted('folkmoot', { createScriptURL: (url: string) => url });
  return {
    placeIn: placeOf,
    addressOf,
    startWorker(name) {
      if (name !== 'player') throw new TypeError(`a file has no worker ${name}`);
      return new Worker(policy.createScriptURL(URL.createObjectURL(player)), { name });
    },
    source: () => run,
    async ask(path, init) {
      const { status, body } = await ask<Answered>('kept', { path, method: init?.method ?? 'GET' });
      return new Response(body, { status });
    },
    docs: null,
    lacks: lacksOf(about),
  };
}

function placeOf({ origin, pathname, search }: Pick<URL, 'origin' | 'pathname' | 'search'>) {
  if (origin !== location.origin || pathname !== location.pathname) return null;
  const query = new URLSearchParams(search);
  const [view, item] = [query.get('view') ?? '', query.get('item')];
  query.delete('view');
  query.delete('item');
  return { view, item, query };
}

function addressOf({ view, item, query }: Place): string {
  const whole = new URLSearchParams();
  if (view !== '') whole.set('view', view);
  if (item !== null) whole.set('item', item);
  for (const [name, value] of query) whole.set(name, value);
  return whole.size === 0 ? location.pathname : `${location.pathname}?${whole}`;
}

function lacksOf({ folder, proven }: About): Home['lacks'] {
  const made = `the folder “${plain(folder, 80)}” that the file was made of`;
  return {
    server: `This asks a server, and a file is none: npx folkmoot explore is one, for ${made}.`,
    log:
      'What was sent, signatures and digests are in the log, which this file does not hold: ' +
      `npx folkmoot explore shows them, with ${made}.`,
    proof:
      `When this file was made, the first ${shown(proven.entries)} entries of the log were ` +
      `recomputed, and all that was stored followed from them, to the digest ${proven.digest}. ` +
      'The file does not hold the log: npx folkmoot explore --verify recomputes it in a browser, ' +
      `with ${made}.`,
  };
}
