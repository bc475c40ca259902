/** The public list of the simulator. */
export { approves, type Personality, personalities } from './agents/personalities.js';
export type { ScriptCommand } from './agents/script/commands.js';
export type { BlockView, ScriptModule, View } from './agents/script/view.js';
export { Auditor, type Violation, violationText } from './audit/index.js';
export type { Progress } from './ending.js';
export * from './jobs/index.js';
export * from './live/index.js';
export * from './measure/index.js';
export { writeRunReport, writeSweepReport } from './report/index.js';
export type { Broken, Provenance, SimResult, Verdict } from './result.js';
export { completeScenario } from './scenario/complete.js';
export { type Loaded, loadScenario } from './scenario/load.js';
export { type Change, withValues } from './scenario/paths.js';
export { ScenarioError } from './scenario/problem.js';
export { Scenario } from './scenario/schema.js';
export { usualScenario, usualSize } from './scenario/usual.js';
export { Interrupted, type SimHooks, type SimOptions, simulate } from './simulate.js';
export { RemoteError } from './world/door.js';
