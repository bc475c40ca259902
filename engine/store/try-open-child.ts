/** Child process of lmdb-guards.ts. Opens and closes an environment. Exit code 0 means success. */
import { tryEnvironment } from './lmdb.js';

const asked = JSON.parse(process.argv[2]!) as Parameters<typeof tryEnvironment>[0];
await tryEnvironment(asked);
