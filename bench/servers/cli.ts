/** The command line as users start it: the arguments of a Node that runs it. */
import { fileURLToPath } from 'node:url';

/** The flag stands in the program's first line, which only a shell reads. */
export const folkmootArguments: readonly string[] = [
  '--max-semi-space-size=128',
  fileURLToPath(new URL('../../cli/main.js', import.meta.url)),
];
