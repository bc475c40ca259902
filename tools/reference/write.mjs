/**
 * Writes the API reference as HTML to `reference/`, which git ignores. With `--json FILE`, writes
 * JSON for the docstring tests.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { convert } from './project.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { json: { type: 'string' } } });
const { app, project } = await convert({ readme: values.json ? 'none' : `${root}README.md` });
app.validate(project);
if (values.json) await app.generateJson(project, values.json);
else await app.generateDocs(project, `${root}reference`);
if (app.logger.hasErrors()) process.exitCode = 1;
