/**
 * XState, through one door: the build bundles this file, since the package's thirteen modules take
 * three times as long to load as what is used of them.
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
