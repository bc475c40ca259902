import { runWorker } from './run-worker.js';
import { ServerSource } from './source.js';

runWorker((origin) => new ServerSource(String(origin)));
