/** The header that all HTML pages share, and the web page's files. */
import { builtFiles, type ServedFile } from './documents.js';

interface Place {
  href: string;
  name: string;
}

/** A table of contents: headings with their links. */
export type Contents = readonly { title: string; places: readonly Place[] }[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => entities[sign]!);

const pages = [
  { href: '/docs', name: 'HTTP' },
  { href: '/docs/socket', name: 'WebSocket' },
];

/** Uses the colours of the HTTP reference viewer. */
export const mastheadStyle = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f23; --faint: #57606a; --line: #d0d7de;
  --shade: #f6f8fa; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e8ea; --faint: #a0a8b0;
  --line: #3a4047; --shade: #1d2125; --link: #7fb8f0; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: var(--link); }
.masthead { position: sticky; top: 0; z-index: 9; display: flex; flex-wrap: wrap; gap: 0 4px;
  align-items: center; min-height: 52px; padding: 0 12px; background: var(--paper);
  border-bottom: 1px solid var(--line); box-sizing: border-box; }
.masthead b { margin-right: 8px; }
.masthead > a { display: inline-flex; align-items: center; min-height: 44px; padding: 0 10px; }
.masthead > a[aria-current] { color: var(--ink); font-weight: 650; text-decoration: none; }
.contents { margin-left: auto; }
.contents summary { cursor: pointer; min-height: 44px; display: flex; align-items: center;
  padding: 0 10px; border: 1px solid var(--line); border-radius: 8px; list-style: none; }
.contents nav { position: absolute; left: 0; right: 0; top: 100%; max-height: calc(100vh - 60px);
  overflow: auto; padding: 4px 16px 24px; background: var(--paper); box-sizing: border-box;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.contents h2 { font-size: 1rem; margin: 14px 0 2px; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents li a { display: block; padding: 9px 0; }
@media (max-width: 480px) { .masthead > b { display: none; } .masthead > a { padding: 0 6px; } }
`;

/** @param here path of the current page */
export const masthead = (here: string, contents: Contents): string => `<header class="masthead">
<b>Folkmoot</b>
${pages
  .map(
    ({ href, name }) =>
      `<a href="${href}"${href === here ? ' aria-current="page"' : ''}>${name}</a>`,
  )
  .join('\n')}
<a href="/">Network</a>
<details class="contents"><summary>Contents</summary><nav aria-label="Contents">
${contents.map(section).join('\n')}
</nav></details>
</header>`;

const section = ({ title, places }: Contents[number]) => `<h2>${escapeHtml(title)}</h2>
<ul>${places.map(item).join('')}</ul>`;

const item = ({ href, name }: Place) =>
  `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></li>`;

/**
 * All resources come from this server, and nothing is inline. Trusted Types keep agents' texts from
 * becoming markup or scripts.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types folkmoot',
].join('; ');

let files: Map<string, ServedFile> | null = null;

/** Returns the web page's file with this name, or null for an unknown name. */
export function pageFile(name: string): ServedFile | null {
  files ??= builtFiles('#page', pagePolicy);
  return files.get(name) ?? null;
}
