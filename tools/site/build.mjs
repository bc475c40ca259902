/**
 * Builds the documentation site into `site/`, which git ignores, from README.md, docs/ and
 * examples/README.md. The same Markdown files work on a code host: the stage has their layout.
 * The build fails on a dead link. `--skip-reference` leaves out the JavaScript API.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { httpPage, socketPage } from './api-pages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stage = join(root, '.build/site');
const { values } = parseArgs({ options: { 'skip-reference': { type: 'boolean' } } });

/** README.md is the index of its folder. Placeholders in angle brackets are text, not HTML. */
function stageMarkdown(path) {
  const target = join(stage, path.replace(/README\.md$/, 'index.md'));
  const text = readFileSync(join(root, path), 'utf8')
    .replaceAll(/\]\(([^)\s]*)README\.md(#[^)\s]*)?\)/g, ']($1index.md$2)')
    .replaceAll(/\]\((?:\.\.\/)*(LICENSE|CITATION\.cff)\)/g, '](/$1)');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function stageFiles(folder, keeps) {
  for (const name of readdirSync(join(root, folder))) {
    if (name.endsWith('.md')) stageMarkdown(`${folder}/${name}`);
    else if (keeps(name)) {
      cpSync(join(root, folder, name), join(stage, 'public', folder, name), { recursive: true });
    }
  }
}

async function buildReference() {
  const { convert } = await import('../reference/project.mjs');
  const { app, project } = await convert({ readme: 'none' });
  await app.generateDocs(project, join(stage, 'public/reference'));
}

rmSync(stage, { recursive: true, force: true });
for (const path of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'test/README.md']) {
  stageMarkdown(path);
}
stageFiles('docs', (name) => /\.(json|py)$/.test(name));
stageFiles('docs/decisions', () => false);
stageFiles('examples', () => true);
for (const path of ['LICENSE', 'CITATION.cff']) {
  cpSync(join(root, path), join(stage, 'public', basename(path)));
}
cpSync(join(root, 'docs/pictures'), join(stage, 'docs/pictures'), { recursive: true });
const read = (name) => JSON.parse(readFileSync(join(root, 'docs', name), 'utf8'));
writeFileSync(join(stage, 'docs/http-api.md'), httpPage(read('openapi.json')));
writeFileSync(join(stage, 'docs/websocket-api.md'), socketPage(read('asyncapi.json')));
mkdirSync(join(stage, '.vitepress'));
cpSync(join(root, 'tools/site/config.mjs'), join(stage, '.vitepress/config.mjs'));
if (!values['skip-reference']) await buildReference();
await build(stage);
