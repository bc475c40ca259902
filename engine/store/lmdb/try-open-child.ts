/** Opens and closes what try-open.ts asks for; that it lives is the answer. */
import { tryEnvironment } from './lmdb.js';

const asked = JSON.parse(process.argv[2]!) as Parameters<typeof tryEnvironment>[0];
await tryEnvironment(asked);
