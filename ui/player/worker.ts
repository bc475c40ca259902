/** The worker of a page at a server. */
import { Served } from './server/served.js';
import { work } from './work.js';

work((origin) => new Served(String(origin)));
