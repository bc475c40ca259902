/** The public list of the auditor: a model of the rules of its own, to hold runs against. */
export { Auditor, type ObservedStep, type Prechecked } from './auditor.js';
export type { AuditedReads } from './ending.js';
export { type Violation, violationText } from './violation.js';
