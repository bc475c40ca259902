/** The door of the auditor: an independent model of the network's rules, to hold runs against. */
export { Auditor, type Prechecked, type Put } from './auditor.js';
export type { AuditedReads } from './ending.js';
export { type Violation, violationText } from './violation.js';
