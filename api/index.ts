/** Public API of `folkmoot/api`: serves a network over HTTP and WebSocket. */

export { closeCodes, socketPath, topics } from './contract/channels.js';
export type {
  ClockView,
  Control,
  ControlCommand,
  ControlName,
  ControlView,
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
export type { Decided, Factor, KnownDecisions, KnownGraph, KnownRun } from './contract/run.js';
export type { ClusterView } from './contract/server.js';
export { browserOrigin, servedName } from './http/entry-checks.js';
export type { Exchange } from './http/response.js';
export { type Server, type ServerOptions, startServer } from './server.js';
export type { ExchangeLimits } from './transport/transport.js';
