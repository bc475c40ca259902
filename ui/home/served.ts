/** The page at a server: paths below /ui/, and whatever it asks is asked over HTTP. */
import type { Home, Place } from './home.js';
import { trusted } from './trusted.js';

/** File names by worker, put in by the build. */
declare const WORKERS: Readonly<Record<string, string>>;

const ROOT = '/ui/';

const policy = trusted('folkmoot', {
  createScriptURL(name: string): string {
    const file = WORKERS[name];
    if (file === undefined) throw new TypeError(`there is no worker ${name}`);
    return `${ROOT}assets/${file}`;
  },
});

export const served: Home = {
  placeIn({ origin, pathname, search }): Place | null {
    if (origin !== location.origin || !pathname.startsWith(ROOT)) return null;
    const [view = '', item = ''] = pathname.slice(ROOT.length).split('/').map(decoded);
    return { view, item: item === '' ? null : item, query: new URLSearchParams(search) };
  },
  addressOf({ view, item, query }): string {
    const path = `${ROOT}${view}${item === null ? '' : `/${encodeURIComponent(item)}`}`;
    return query.size === 0 ? path : `${path}?${query}`;
  },
  startWorker: (name) => new Worker(policy.createScriptURL(name), { type: 'module', name }),
  source: () => location.origin,
  ask: (path, init) => fetch(path, init),
  docs: '/docs',
  lacks: {},
};

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
