/** Where the repository and its built command line are. */
import { fileURLToPath } from 'node:url';

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built command line. */
export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
