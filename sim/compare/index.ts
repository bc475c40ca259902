/** Two runs that should be the same: where they part. */
export { type JsonDifference, jsonDifference } from './json.js';
export {
  type EventDifference,
  firstDivergence,
  firstEventDivergence,
  type LogDifference,
} from './logs.js';
