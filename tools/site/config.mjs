/** VitePress configuration. The sidebar is the index in docs/README.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const root = fileURLToPath(new URL('..', import.meta.url));
const index = readFileSync(join(root, 'docs/index.md'), 'utf8');

/**
 * Returns a heading's anchor by GitHub's rule, so that a link works on both GitHub and the site.
 */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** Escapes double braces in inline code, so that Vue does not evaluate them. */
function escapeBraces(markdown) {
  const render = markdown.renderer.rules.code_inline;
  markdown.renderer.rules.code_inline = (...args) =>
    render(...args).replace('<code', '<code v-pre');
}

/** Returns the pages that a section of the index lists. */
const pagesOf = (section) =>
  [...section.matchAll(/^- .*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/\[([^\]]+)\]\((\S+?)\.md\)/g)].map(([, text, page]) => ({
      text,
      link: `/docs/${page}`,
    })),
  );

const sections = index
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ text: section.split('\n', 1)[0], items: pagesOf(section) }));

const apis = [
  { text: 'HTTP API', link: '/docs/http-api' },
  { text: 'WebSocket API', link: '/docs/websocket-api' },
];
sections.find(({ text }) => text === 'Reference').items.push(...apis);

export default defineConfig({
  title: 'Folkmoot',
  description: 'A deterministic simulation engine for networks of voting agents',
  outDir: '../../site',
  cacheDir: '../site-cache',
  srcExclude: ['public/**'],
  lastUpdated: false,
  // Programs and licences are copied alongside the pages, but VitePress resolves only pages.
  ignoreDeadLinks: [/\.(py|sh|cff)$/, /\/LICENSE$/],
  markdown: { anchor: { slugify }, toc: { slugify }, headers: { slugify }, config: escapeBraces },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'JavaScript API', link: '/reference/index.html', target: '_self' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: [...sections, { text: 'Contribute', link: '/CONTRIBUTING' }],
  },
});
