/**
 * Reexports the parts of XState that the engine uses, for the bundle. All modules of the package
 * take three times as long to load.
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
