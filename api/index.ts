/** The public list of `folkmoot/api`: a network served over HTTP and WebSocket. */

export { closeCodes, socketPath, topics } from './contract/channels.js';
export type { ClusterShown } from './contract/cluster.js';
export type {
  ClockShown,
  Control,
  ControlCommand,
  ControlName,
  ControlShown,
  KnownPart,
  Until,
  WorldKind,
} from './contract/control.js';
export {
  type Figures,
  type LimitName,
  limitNames,
  type Profile,
  perMinute,
} from './contract/limit-table.js';
export type { DivergenceShown, ProofShown } from './contract/proof.js';
export type { Decided, Factor, KnownDecisions, KnownGraph, KnownRun } from './contract/run.js';
export type { Exchange } from './http/observe.js';
export { browserOrigin } from './http/request/origins.js';
export { servedName } from './http/request/served-names.js';
export { type Server, type ServerOptions, startServer } from './server.js';
export type { ExchangeLimits } from './transport/exchange-limits.js';
