/** The public list of the simulator. */

export type { Provenance } from '../report/provenance.js';
export { checkScripts, scriptsOf } from './agents/script/check.js';
export type { ScriptCommand } from './agents/script/commands.js';
export type { BlockView, ScriptModule, View } from './agents/script/view.js';
export { Auditor, type Put, type Violation, violationText } from './audit/index.js';
export * from './compare/index.js';
export * from './conformance/index.js';
export * from './measure/index.js';
export { writeRunReport, writeSweepReport } from './report/index.js';
export type { Progress } from './run/ending.js';
export * from './run/jobs/index.js';
export * from './run/live/index.js';
export type { Broken, SimResult, Verdict } from './run/result.js';
export { Interrupted, type SimHooks, type SimOptions, simulate } from './run/simulate.js';
export { usualScenario, usualSize } from './scenario/default.js';
export { ScenarioError } from './scenario/problem.js';
export { completeScenario } from './scenario/read/complete.js';
export { type Loaded, loadScenario } from './scenario/read/load.js';
export { type Change, withValues } from './scenario/read/paths.js';
export { findScenario, type Shipped, shippedScenarios } from './scenario/read/shipped.js';
export { scenarioReference } from './scenario/reference.js';
export { scenarioJsonSchema } from './scenario/schema/json-schema.js';
export { approves, type Personality, personalities } from './scenario/schema/personalities.js';
export { Scenario } from './scenario/schema/scenario.js';
export * from './swarm/index.js';
export * from './sweep/index.js';
export { RemoteError } from './world/gateway/gateway.js';
