/**
 * Entry point of the page on a server. Places are paths below /ui/, and requests go over HTTP.
 * Starts the network page or, if the HTML says so, the page of a load run or of the gallery.
 */
import { createTrustedRules, type Home, type Place, setHome } from './home.js';
import { begin } from './shell.js';

/** File names by worker, defined by the build. */
declare const WORKERS: Readonly<Record<string, string>>;

const ROOT = '/ui/';

const policy = createTrustedRules('folkmoot', {
  createScriptURL(name: string): string {
    const file = WORKERS[name];
    if (file === undefined) throw new TypeError(`unknown worker: ${name}`);
    return `${ROOT}assets/${file}`;
  },
});

const served: Home = {
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

setHome(served);
const { shows } = document.documentElement.dataset;
if (shows === 'load') {
  void import('./load/load.js').then(({ beginLoad }) => beginLoad());
} else if (shows === 'gallery') {
  void import('./gallery.js').then(({ beginGallery }) => beginGallery());
} else {
  begin();
}
