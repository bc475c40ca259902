/** Opens pools and closes them at once, each a little later: threads are ended as they load. */
import { setTimeout as pause } from 'node:timers/promises';
import { createVerifier } from '../../../dist/engine/index.js';

for (let milliseconds = 0; milliseconds < Number(process.argv[2]); milliseconds += 3) {
  const verifier = createVerifier('pool');
  await pause(milliseconds);
  await verifier.close();
}
process.stdout.write('closed');
