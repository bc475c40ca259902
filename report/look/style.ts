/** The look of a report, in the colours of report/shared. */
import { declarations } from '../shared/palette.js';

const light = declarations('light');
const dark = declarations('dark');

export const style = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 8px; }
h2 { font-size: 1.25rem; margin: 48px 0 12px; padding-bottom: 4px;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 0 0 6px; }
p { margin: 8px 0; max-width: 75ch; }
a { color: var(--link); }
code, pre { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 6px; margin: 8px 0;
  padding: 10px 12px; overflow-x: auto; overflow-wrap: normal; }
summary { cursor: pointer; margin: 8px 0; }
.lead, .faint, figcaption { color: var(--faint); }
.lead { font-size: 1.08rem; margin-top: 0; white-space: pre-line; }
.verdict { border-left: 6px solid var(--good); background: var(--shade); padding: 10px 14px;
  margin: 20px 0; border-radius: 0 6px 6px 0; }
.verdict.bad { border-color: var(--bad); }
.verdict.mixed { border-color: var(--faint); }
.verdict p { margin: 4px 0; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 12px 20px;
  margin: 16px 0; }
dl div { min-width: 0; }
dl .wide-fact { grid-column: 1 / -1; }
dt { color: var(--faint); font-size: 0.85rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
figure { margin: 28px 0; break-inside: avoid; }
figcaption { font-size: 0.92rem; max-width: 75ch; margin-top: 6px; }
.plot { display: block; max-width: 100%; height: auto; }
.plot text, .plot tspan { white-space: pre; }
.plot.narrow { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; padding: 0;
  margin: 0 0 6px; font-size: 0.9rem; }
.legend svg { width: 24px; height: 10px; margin-right: 6px; fill: none; }
.warning { border-left: 4px solid var(--bad); padding-left: 10px; }
[hidden] { display: none; }
.downloads { margin: 4px 0 0; }
.downloads button { font: inherit; font-size: 0.82rem; padding: 1px 10px; color: var(--faint);
  background: var(--paper); border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; color: var(--faint); padding-bottom: 6px; }
th, td { text-align: left; vertical-align: top; padding: 5px 14px 5px 0;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
.number { text-align: right; }
.whole { white-space: nowrap; }
.text { overflow-wrap: anywhere; min-width: 150px; }
footer { margin-top: 48px; color: var(--faint); font-size: 0.88rem; }
@media (max-width: 640px) {
  main { padding: 16px 14px 40px; }
  h1 { font-size: 1.4rem; }
  .plot.wide { display: none; }
  .plot.narrow { display: block; }
  th, td { padding-right: 10px; }
}
@media print {
  .downloads { display: none; }
  :root { color-scheme: light; ${light} }
  main { max-width: none; padding: 0; }
  .plot.wide { display: block; }
  .plot.narrow { display: none; }
  body { font-size: 11pt; }
  h2 { break-after: avoid; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
`;
