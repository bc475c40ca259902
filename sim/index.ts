/** The public list of `folkmoot/sim`: experiments, from a scenario file to its report. */
export type { Provenance } from '../report/provenance.js';
export type { DeciderFigures, DeciderOptions, FailureReason } from './agents/deciders/index.js';
export { DeciderError } from './agents/deciders/index.js';
export type {
  ReceivedMeme,
  ReceivedMessage,
  ReceivedRemark,
  ReceivedVote,
} from './agents/port/known.js';
export type { ScriptCommand } from './agents/script/commands/commands.js';
export type { Figures, Reported } from './agents/script/index.js';
export type {
  ScriptAgent,
  ScriptBlock,
  ScriptFunction,
  ScriptGroup,
  ScriptModule,
  ScriptReport,
  ScriptReportBlock,
  ScriptReportView,
  ScriptView,
} from './agents/script/interface.js';
export {
  type AuditedReads,
  Auditor,
  type ObservedStep,
  type Prechecked,
  type Violation,
  violationText,
} from './audit/index.js';
export {
  type BlockDifference,
  type BlockOutcome,
  compareKept,
  type EventDifference,
  firstDivergence,
  firstEventDivergence,
  type JsonDifference,
  jsonDifference,
  type KeptComparison,
  type LogDifference,
  type MeasureDifference,
  type RunDifference,
  type StoredEvents,
} from './compare/index.js';
export {
  type CaseRow,
  type Comparison,
  caseNames,
  checkResults,
  type Difference,
  type ExpectedEntry,
  type ExpectedLine,
  type ExpectedOutcome,
  type InputLine,
  type InputRequest,
  type ResultLine,
  type SuiteFile,
  type SuiteOptions,
  writeSuite,
} from './conformance/index.js';
export {
  type Forked,
  type ForkHooks,
  forkScenario,
  type KeptRun,
  type Prefix,
  readKept,
  runFork,
} from './fork/index.js';
export {
  type MeasureName,
  type Measures,
  type MessageFigures,
  type MessageKind,
  measures,
  type Row,
  sweepTables,
  type TableName,
  tables,
} from './measure/index.js';
export { writeRunReport, writeSweepReport } from './report/index.js';
export type { Stream } from './rng.js';
export type { Progress } from './run/ending/ending.js';
export type { Failure } from './run/jobs/index.js';
export {
  type LiveOptions,
  type PopulateOptions,
  type Population,
  populate,
  type RemoteHooks,
  type RemoteOptions,
  simulateRemote,
} from './run/live/index.js';
export type { SimHooks, SimOptions } from './run/options.js';
export type { Acted, EndedBy, SimResult, Verdict } from './run/result.js';
export { Interrupted, simulate } from './run/simulate.js';
export { defaultScenario } from './scenario/default.js';
export { ScenarioError } from './scenario/problem.js';
export { completeScenario } from './scenario/read/complete.js';
export { type Loaded, loadScenario } from './scenario/read/load.js';
export { type Change, withValues } from './scenario/read/paths.js';
export { findScenario, type Shipped, shippedScenarios } from './scenario/read/shipped.js';
export { scenarioReference } from './scenario/reference.js';
export { scenarioJsonSchema } from './scenario/schema/json-schema.js';
export { type Personality, personalities } from './scenario/schema/personalities.js';
export type { Scenario } from './scenario/schema/scenario.js';
export {
  type Coverage,
  type RunFailure,
  type RunFailureKind,
  type SwarmFailure,
  type SwarmOptions,
  type SwarmResult,
  swarm,
} from './swarm/index.js';
export {
  type FactorValue,
  type FailedRun,
  type FailureKind,
  type MergeOptions,
  MissingRunsError,
  type MissingShard,
  mergeSweep,
  type Plan,
  type PlanOptions,
  planSweep,
  type RunRecord,
  type Shard,
  SweepError,
  type SweepOptions,
  type SweepResult,
  sweep,
} from './sweep/index.js';
export { RemoteError } from './world/gateway/gateway.js';
export type { RuleViolation } from './world/virtual/watch.js';
