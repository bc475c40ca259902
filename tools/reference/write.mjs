/** Writes the reference of the package's entries as HTML, to `reference/`, which git ignores. */
import { fileURLToPath } from 'node:url';
import { convert } from './project.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { app, project } = await convert({ readme: `${root}README.md` });
await app.generateDocs(project, `${root}reference`);
if (app.logger.hasErrors()) process.exitCode = 1;
