/**
 * Re-exports the parts of XState that the engine and nodes use, for the bundle. Loading all modules
 * of XState takes three times as long.
 */
export {
  type Actor,
  type AnyStateMachine,
  assign,
  type ContextFrom,
  createActor,
  emit,
  type InputFrom,
  setup,
  waitFor,
} from 'xstate';
