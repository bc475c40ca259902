/** The public list: why a block ended as it did. */
export type { Ablation, AblationRow } from './ablation/ablation.js';
export type { CandidateKind } from './ablation/candidates.js';
export {
  type Attribution,
  type AttributionOptions,
  attribute,
  candidateKinds,
} from './attribution.js';
export { type Explanation, explain, type PowerTable } from './explanation.js';
export type { LeftOut } from './mechanical/left-out.js';
export type { Recounted } from './mechanical/recount.js';
export type { Swing } from './mechanical/swings.js';
export type { Game } from './power/game.js';
export { type Power, powerLimits, powerOf } from './power/indices.js';
