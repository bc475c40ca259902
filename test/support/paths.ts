import { fileURLToPath } from 'node:url';

/** Root folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Path of the built command line. */
export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
