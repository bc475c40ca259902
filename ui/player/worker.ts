/** The worker of a page at a server. */

import { runWorker } from './run-worker.js';
import { ServerSource } from './source.js';

runWorker((origin) => new ServerSource(String(origin)));
