/**
 * Re-exports the parts of XState that the engine uses, for the bundle. Loading all of XState's
 * modules takes three times as long.
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
} from 'xstate';
