/** Public API of `folkmoot/sim`: simulation, sweeps, forks and reports. */

export { type JsonDifference, jsonDifference } from '../engine/protocol/canonical.js';
export type { Provenance } from '../report/folder.js';
export { type MeasureName, measures } from '../report/shared/measures.js';
export {
  DeciderError,
  type DeciderFigures,
  type FailureReason,
} from './agents/deciders/adapter.js';
export type { DeciderOptions } from './agents/deciders/deciders.js';
export type {
  DeliberationView,
  KnownHead,
  ReceivedMeme,
  ReceivedMessage,
  ReceivedRemark,
  ReceivedVote,
} from './agents/port.js';
export type { ScriptCommand } from './agents/script/commands.js';
export type {
  ScriptAgent,
  ScriptBlock,
  ScriptFunction,
  ScriptGroup,
  ScriptModule,
  ScriptReport,
  ScriptReportBlock,
  ScriptReportView,
  ScriptRule,
  ScriptView,
} from './agents/script/interface.js';
export type { Figures, Reported } from './agents/script/scripts.js';
export { type AuditedReads, Auditor, type ObservedStep, type Prechecked } from './audit/auditor.js';
export type { Contradiction } from './audit/decisions.js';
export type { Finding, FindingName } from './audit/findings.js';
export { type Violation, violationText } from './audit/violation.js';
export {
  type EventDifference,
  firstDivergence,
  firstEventDivergence,
  type LogDifference,
  type RunDifference,
  type StoredEvents,
} from './compare/logs.js';
export {
  type BlockDifference,
  type BlockOutcome,
  compareKept,
  type KeptComparison,
  type MeasureDifference,
} from './compare/runs.js';
export { type Comparison, checkResults, type Difference } from './conformance/check.js';
export type {
  CaseRow,
  ExpectedEntry,
  ExpectedLine,
  ExpectedOutcome,
  InputLine,
  InputRequest,
  ResultLine,
  SuiteFile,
} from './conformance/format.js';
export { caseNames, type SuiteOptions, writeSuite } from './conformance/suite.js';
export { type Forked, type ForkHooks, type Prefix, runFork } from './fork/fork.js';
export { type KeptRun, readKept } from './fork/kept-run.js';
export { forkScenario } from './fork/scenario.js';
export {
  type Measures,
  type Row,
  sweepTables,
  type TableName,
  tables,
} from './measure/dictionary.js';
export type { MessageFigures } from './measure/messages.js';
export { writeRunReport, writeSweepReport } from './report/index.js';
export type { Stream } from './rng.js';
export type { Progress } from './run/ending.js';
export type { Failure } from './run/jobs.js';
export {
  type LiveOptions,
  type PopulateOptions,
  type Population,
  populate,
} from './run/live-run.js';
export type { SimHooks, SimOptions } from './run/options.js';
export { type RemoteHooks, type RemoteOptions, simulateRemote } from './run/remote-run.js';
export type { Acted, EndedBy, SimResult, Verdict } from './run/result.js';
export { Interrupted, simulate } from './run/simulate.js';
export { completeScenario, defaultScenario } from './scenario/complete.js';
export {
  findScenario,
  type Loaded,
  loadScenario,
  type Shipped,
  shippedScenarios,
} from './scenario/load.js';
export { type Change, ScenarioError, withValues } from './scenario/problem.js';
export { scenarioJsonSchema } from './scenario/reference.js';
export { type Personality, personalities } from './scenario/schema/personalities.js';
export type { Scenario } from './scenario/schema/scenario.js';
export type { RunFailure, RunFailureKind } from './swarm/failures.js';
export {
  type Coverage,
  type SwarmFailure,
  type SwarmOptions,
  type SwarmResult,
  swarm,
} from './swarm/swarm.js';
export type { FactorValue } from './sweep/design.js';
export {
  type MergeOptions,
  MissingRunsError,
  type MissingShard,
  mergeSweep,
} from './sweep/merge.js';
export { SweepError, type SweepErrorCode } from './sweep/messages.js';
export { type Plan, type PlanOptions, planSweep, type Shard } from './sweep/plan.js';
export type { FailedRun, FailureKind, RunRecord, SweepResult } from './sweep/runs.js';
export { type SweepOptions, sweep } from './sweep/sweep.js';
export { RemoteError } from './world/gateway.js';
export type { MessageKind } from './world/messages.js';
export type { RuleViolation } from './world/observer.js';
