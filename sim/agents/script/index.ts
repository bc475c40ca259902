/** Strategies of a user's own: modules that are asked what their agents do. */
export { checkScripts } from './check/check.js';
export type { ScriptReportBlock } from './interface.js';
export type { Figures, Reported } from './report.js';
export { Scripts } from './scripts.js';
