/** The door of the auditor: an independent model of the network's rules, to hold runs against. */
export { Auditor, type Foreseen, type Put } from './auditor.js';
export type { Reads } from './ending.js';
export { type Violation, violationText } from './violation.js';
