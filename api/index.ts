/** The public list of the live API. */
export { closeCodes, socketLimits, socketPath, topics } from './contract/channels.js';
export { type LimitName, limitNames, type Profile, perMinute } from './contract/limit-table.js';
export { type Route, routes } from './contract/routes.js';
export type { Exchange } from './http/observe.js';
export { browserOrigin } from './http/request/origins.js';
export { servedName } from './http/request/served-names.js';
export { type Server, type ServerOptions, startServer } from './server.js';
