/** Opens and closes the environment that lmdb-guards.ts names; surviving means that it is sound. */
import { tryEnvironment } from './lmdb.js';

const asked = JSON.parse(process.argv[2]!) as Parameters<typeof tryEnvironment>[0];
await tryEnvironment(asked);
