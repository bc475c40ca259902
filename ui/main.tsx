/** The page at a server begins here. */
import { liveAt } from './home/home.js';
import { served } from './home/served.js';
import { begin } from './shell/begin.js';

liveAt(served);
if (document.documentElement.dataset.shows === 'load') {
  void import('./shell/load.js').then(({ beginLoad }) => beginLoad());
} else {
  begin();
}
