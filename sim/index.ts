/** The public list of the simulator. */
export { approves, type Personality, personalities } from './agents/personalities.js';
export { checkScripts } from './agents/script/check.js';
export type { ScriptCommand } from './agents/script/commands.js';
export type { BlockView, ScriptModule, View } from './agents/script/view.js';
export { Auditor, type Violation, violationText } from './audit/index.js';
export type { Progress } from './ending.js';
export * from './measure/index.js';
export type { Broken, Provenance, SimResult, Verdict } from './result.js';
export { scenarioJsonSchema } from './scenario/json-schema.js';
export { completeScenario, type Loaded, loadScenario } from './scenario/load.js';
export { type Change, withValues } from './scenario/paths.js';
export { ScenarioError } from './scenario/problem.js';
export { scenarioReference } from './scenario/reference.js';
export { Scenario } from './scenario/schema.js';
export { findScenario, type Shipped, shippedScenarios } from './scenario/shipped.js';
export { usualScenario, usualSize } from './scenario/usual.js';
export { Interrupted, type SimHooks, type SimOptions, simulate } from './simulate.js';
