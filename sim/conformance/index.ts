/** The conformance suite: written for other implementations, and their results compared. */
export { type Comparison, checkResults, type Difference } from './check.js';
export type {
  CaseRow,
  ExpectedEntry,
  ExpectedLine,
  ExpectedOutcome,
  InputLine,
  InputRequest,
  ResultLine,
  SuiteFile,
} from './format.js';
export { caseNames, type SuiteOptions, writeSuite } from './write.js';
