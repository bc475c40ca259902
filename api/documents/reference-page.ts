/** The page at /docs. All that it needs comes from this server: it works without a network. */

/**
 * Scripts from here only. Styles may stand inline: the viewer's elements carry style attributes,
 * which cannot run anything.
 */
export const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>folkmoot: HTTP reference</title>
<script src="/docs/theme.js" defer></script>
<script src="/docs/rapidoc-min.js" defer></script>
</head>
<body>
<rapi-doc
  spec-url="/openapi.json"
  load-fonts="false"
  regular-font="system-ui, sans-serif"
  mono-font="ui-monospace, monospace"
  render-style="read"
  schema-style="table"
  schema-description-expanded="true"
  default-schema-tab="schema"
  show-header="false"
  show-method-in-nav-bar="as-colored-text"
  use-path-in-nav-bar="false"
  allow-authentication="false"
  allow-server-selection="false"
  allow-spec-url-load="false"
  allow-spec-file-load="false"
  allow-try="false"
  sort-tags="false"
></rapi-doc>
<noscript>
This page needs scripts. The document itself is at <a href="/openapi.json">/openapi.json</a>.
</noscript>
</body>
</html>
`;

/** Follows the reader's choice of light or dark, also when it changes. */
export const themeScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const page = document.querySelector('rapi-doc');
const paint = () => page.setAttribute('theme', dark.matches ? 'dark' : 'light');
dark.addEventListener('change', paint);
paint();
`;
